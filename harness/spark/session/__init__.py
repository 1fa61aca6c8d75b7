"""A Spark session: its conf, its JVM, what DataFrame programs share. For readers, history, judge and chaos."""
