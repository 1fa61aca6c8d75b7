package main

import (
	"crypto/sha256"
	"crypto/sha512"
	"hash"
	"time"

	"github.com/IBM/sarama"
	"github.com/xdg-go/scram"
)

var codecs = map[string]sarama.CompressionCodec{
	"none": sarama.CompressionNone, "gzip": sarama.CompressionGZIP, "snappy": sarama.CompressionSnappy,
	"lz4": sarama.CompressionLZ4, "zstd": sarama.CompressionZSTD,
}

// shared settings. The version is the default of today's sarama; older ones begin lower.
func shared(given Settings, security Security) *sarama.Config {
	config := sarama.NewConfig()
	config.ClientID = given.ClientID
	config.Version = sarama.V2_8_0_0
	config.Net.DialTimeout = given.RequestTimeout.Duration()
	config.Net.ReadTimeout = given.RequestTimeout.Duration()
	config.Net.WriteTimeout = given.RequestTimeout.Duration()
	config.Metadata.Timeout = given.Block.Duration()
	if security.TLS != nil {
		config.Net.TLS.Enable, config.Net.TLS.Config = true, security.TLS
	}
	if security.Mechanism != "" {
		config.Net.SASL.Enable = true
		config.Net.SASL.Mechanism = sarama.SASLMechanism(security.Mechanism)
		config.Net.SASL.User, config.Net.SASL.Password = security.Username, security.Password
		config.Net.SASL.SCRAMClientGeneratorFunc = func() sarama.SCRAMClient {
			return &conversation{mechanism: security.Mechanism}
		}
	}
	return config
}

// producing counts tries where the protocol has times, because sarama has no setting for those.
func producing(given Settings, security Security) (*sarama.Config, error) {
	config := shared(given, security)
	producer := &config.Producer
	producer.Return.Successes, producer.Return.Errors = true, true
	producer.Partitioner = sarama.NewManualPartitioner
	producer.RequiredAcks = sarama.WaitForAll
	producer.Timeout = given.RequestTimeout.Duration()
	producer.Retry.Max = tries(given.DeliveryTimeout, producer.Retry.Backoff)
	producer.Compression = codecs[given.Compression]
	if given.Linger > 0 { // without a frequency, records would wait until there are so many bytes
		producer.Flush.Frequency, producer.Flush.Bytes = given.Linger.Duration(), given.BatchBytes
	}
	producer.Idempotent = given.Idempotent || given.TransactionalID != ""
	config.Net.MaxOpenRequests = given.InFlight
	if producer.Idempotent {
		config.Net.MaxOpenRequests = 1 // the library refuses others
	}
	if given.TransactionalID != "" {
		producer.Transaction.ID = given.TransactionalID
		producer.Transaction.Timeout = given.TransactionTimeout.Duration()
		producer.Transaction.Retry.Max = tries(given.Block, producer.Transaction.Retry.Backoff)
	}
	return config, config.Validate()
}

func tries(limit Millis, backoff time.Duration) int {
	return max(1, int(limit.Duration()/backoff))
}

func consuming(given Settings, security Security) (*sarama.Config, error) {
	config := shared(given, security)
	config.Consumer.Return.Errors = true
	config.Consumer.Offsets.Initial = sarama.OffsetOldest
	config.Consumer.Offsets.AutoCommit.Enable = false
	config.Consumer.Fetch.Default = given.FetchBytes
	if given.Isolation == "read_committed" {
		config.Consumer.IsolationLevel = sarama.ReadCommitted
	}
	config.Consumer.Group.Session.Timeout = given.SessionTimeout.Duration()
	config.Consumer.Group.Heartbeat.Interval = given.SessionTimeout.Duration() / 3
	return config, config.Validate()
}

// conversation is a SCRAMClient; sarama leaves it to applications.
type conversation struct {
	mechanism string
	*scram.ClientConversation
}

func (c *conversation) Begin(user, password, authorization string) error {
	var generate scram.HashGeneratorFcn = func() hash.Hash { return sha512.New() }
	if c.mechanism == sarama.SASLTypeSCRAMSHA256 {
		generate = func() hash.Hash { return sha256.New() }
	}
	client, err := generate.NewClient(user, password, authorization)
	if err == nil {
		c.ClientConversation = client.NewConversation()
	}
	return err
}
