"""Suites of other projects, run against functions of the same names here."""
