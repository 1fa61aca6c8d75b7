"""Commands that read what runs have left: judge it again, adopt its evidence, put several beside each other."""
