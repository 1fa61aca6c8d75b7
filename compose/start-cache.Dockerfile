# Any image with Kafka, and its start-up cache: formatted storage, an archive of parsed classes and the
# class path that it fits. The build's context is a folder with these; no file of the image itself is touched, because
# the archive is refused when a jar's time is another.
ARG SOURCE
FROM ${SOURCE}
COPY . /fencepost/
