"""One file an API: what is asked, how each version says it, and the typed answer."""
