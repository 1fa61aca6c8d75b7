"""What happens beside requests, on a running cluster: timeouts pass, leaders move, messages of brokers are held."""
