package main

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// Security is how clients connect; TLS is nil and Mechanism empty where it is without.
type Security struct {
	TLS                           *tls.Config
	Mechanism, Username, Password string
}

var (
	entry   = regexp.MustCompile(`^((?:\\.|[^\\=:\s])+)[ \t\f]*[=:]?[ \t\f]*(.*)$`)
	escaped = regexp.MustCompile(`\\(.)`)
	option  = regexp.MustCompile(`(\w+)\s*=\s*(?:"((?:\\.|[^"\\])*)"|([^\s;"]+))`)
	known   = []string{
		"security.protocol", "sasl.mechanism", "sasl.jaas.config", "ssl.endpoint.identification.algorithm",
		"ssl.truststore.location", "ssl.truststore.type", "ssl.truststore.certificates",
		"ssl.keystore.location", "ssl.keystore.type", "ssl.keystore.certificate.chain", "ssl.keystore.key",
	}
)

// readSecurity reads a file in the format of Kafka's tools; paths in it are relative to its folder.
func readSecurity(file string) (Security, error) {
	if file == "" {
		return Security{}, nil
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return Security{}, err
	}
	given := readProperties(string(text))
	for key := range given {
		about := strings.HasPrefix(key, "ssl.") || strings.HasPrefix(key, "sasl.") || strings.HasPrefix(key, "security.")
		if about && !slices.Contains(known, key) {
			return Security{}, fmt.Errorf("this adapter does not support %s", key)
		}
	}
	return securityOf(given, filepath.Dir(file))
}

func securityOf(given map[string]string, folder string) (Security, error) {
	var found Security
	var err error
	protocol := strings.ToUpper(given["security.protocol"])
	switch protocol {
	case "", "PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL":
	default:
		return found, fmt.Errorf("security.protocol is none of Kafka's")
	}
	if strings.HasPrefix(protocol, "SASL_") {
		if found, err = login(given); err != nil {
			return found, err
		}
	}
	if strings.HasSuffix(protocol, "SSL") {
		found.TLS, err = tlsOf(given, folder)
	}
	return found, err
}

func login(given map[string]string) (Security, error) {
	mechanism := given["sasl.mechanism"]
	if !slices.Contains([]string{"PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"}, mechanism) {
		return Security{}, fmt.Errorf("this adapter supports PLAIN and SCRAM as sasl.mechanism, not %q", mechanism)
	}
	options := map[string]string{}
	for _, found := range option.FindAllStringSubmatch(given["sasl.jaas.config"], -1) {
		options[found[1]] = escaped.ReplaceAllString(found[2], "$1") + found[3]
	}
	if options["username"] == "" {
		return Security{}, fmt.Errorf("sasl.jaas.config has no username")
	}
	return Security{Mechanism: mechanism, Username: options["username"], Password: options["password"]}, nil
}

func tlsOf(given map[string]string, folder string) (*tls.Config, error) {
	config := &tls.Config{MinVersion: tls.VersionTLS12}
	authorities, err := pem(given, "ssl.truststore", "ssl.truststore.certificates", folder)
	if err != nil {
		return nil, err
	}
	if authorities != nil {
		config.RootCAs = x509.NewCertPool()
		if !config.RootCAs.AppendCertsFromPEM(authorities) {
			return nil, fmt.Errorf("ssl.truststore.location: this adapter takes PEM, and there is no certificate in it")
		}
	}
	chain, err := pem(given, "ssl.keystore", "ssl.keystore.certificate.chain", folder)
	if err != nil {
		return nil, err
	}
	if chain != nil {
		both := append(append([]byte{}, chain...), "\n"+given["ssl.keystore.key"]...)
		own, err := tls.X509KeyPair(both, both)
		if err != nil {
			return nil, fmt.Errorf("ssl.keystore.location: this adapter takes PEM with a key that has no password: %w", err)
		}
		config.Certificates = []tls.Certificate{own}
	}
	if algorithm, set := given["ssl.endpoint.identification.algorithm"]; set && algorithm == "" {
		verifyChainOnly(config)
	}
	return config, nil
}

// pem is the content of a store that stands in a property or in a file; nil where there is none.
func pem(given map[string]string, store, inline, folder string) ([]byte, error) {
	if text := given[inline]; text != "" {
		return []byte(text), nil
	}
	if given[store+".location"] == "" {
		return nil, nil
	}
	if kind := given[store+".type"]; kind != "" && kind != "PEM" {
		return nil, fmt.Errorf("this adapter supports PEM as %s.type, not %s", store, kind)
	}
	path := given[store+".location"]
	if !filepath.IsAbs(path) {
		path = filepath.Join(folder, path)
	}
	return os.ReadFile(path)
}

// verifyChainOnly is Go's documented way to verify a certificate's authority and not its name (tls.Config).
func verifyChainOnly(config *tls.Config) {
	config.InsecureSkipVerify = true
	config.VerifyConnection = func(state tls.ConnectionState) error {
		others := x509.NewCertPool()
		for _, each := range state.PeerCertificates[1:] {
			others.AddCert(each)
		}
		_, err := state.PeerCertificates[0].Verify(x509.VerifyOptions{Roots: config.RootCAs, Intermediates: others})
		return err
	}
}

// readProperties reads Java's format: comments, escapes, and lines that a backslash continues.
func readProperties(text string) map[string]string {
	found := map[string]string{}
	logical := ""
	for _, natural := range strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n") {
		natural = strings.TrimLeft(natural, " \t\f")
		if logical == "" && (natural == "" || strings.ContainsRune("#!", rune(natural[0]))) {
			continue
		}
		content := strings.TrimRight(natural, `\`)
		if backslashes := len(natural) - len(content); backslashes%2 == 1 {
			logical += natural[:len(natural)-1]
			continue
		}
		if pair := entry.FindStringSubmatch(logical + natural); pair != nil {
			found[unescape(pair[1])] = strings.TrimSpace(unescape(pair[2]))
		}
		logical = ""
	}
	return found
}

func unescape(text string) string {
	return escaped.ReplaceAllStringFunc(text, func(found string) string {
		if plain, special := map[string]string{`\n`: "\n", `\t`: "\t", `\r`: "\r", `\f`: "\f"}[found]; special {
			return plain
		}
		return found[1:]
	})
}
