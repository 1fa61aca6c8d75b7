# A Kafka where its image cannot be pulled: the released jars on a Java. The build's context is the folder of the jars.
ARG BASE=fencepost/java
FROM ${BASE}
COPY *.jar /opt/kafka/libs/
