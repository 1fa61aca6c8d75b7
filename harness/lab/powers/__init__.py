"""Powers of the lab beyond producers, holds and looks: a module each."""
