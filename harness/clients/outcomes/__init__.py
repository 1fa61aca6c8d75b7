"""Error tables: which answer of a library is which outcome, a reason a row; and the one law that all of them obey."""
