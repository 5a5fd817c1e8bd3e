// Size of a spinor: 24 reals, with spin slowest, then colour, then real and imaginary part.
#pragma once

enum { SPINOR = 24 };
