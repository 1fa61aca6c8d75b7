"""Named Byteman rules, by the part of the broker that they break; a requirement's ``Failpoint`` takes their text."""
