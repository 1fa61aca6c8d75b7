"""A Spark session: its settings, its JVM's start, small services for DataFrame programs."""
