"""How an adapter that ships is installed by its language's own package client, one file a language."""
