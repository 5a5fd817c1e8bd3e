// A spinor is 24 reals: spin slowest, then colour, then real and imaginary part.
#pragma once

enum { SPINOR = 24 };
