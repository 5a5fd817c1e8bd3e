"""Other projects' own tests, run as tests of cubc."""
