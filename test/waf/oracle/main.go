// The oracle runs requests through Coraza v3 with the OWASP Core Rule Set, for tests that compare the gateway's engine
// with it. Requests come as JSON lines on standard input, verdicts leave as JSON lines on standard output, in the same
// order. With --bench it prints what Coraza costs instead.
package main

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"os"
	"strings"

	coreruleset "github.com/corazawaf/coraza-coreruleset/v4"
	"github.com/corazawaf/coraza/v3"
	"github.com/corazawaf/coraza/v3/experimental/plugins/plugintypes"
	"github.com/corazawaf/coraza/v3/types"
)

// Request is one line of standard input. In its texts, a character stands for a byte (Latin-1).
type Request struct {
	ID      string      `json:"id,omitempty"`
	Client  string      `json:"client,omitempty"`
	Method  string      `json:"method"`
	Target  string      `json:"target"`
	Version string      `json:"version"`
	Headers [][2]string `json:"headers"`
	// Bytes, as base64.
	Body     []byte    `json:"body"`
	Response *Response `json:"response,omitempty"`
}

// Response is what an upstream answers; without one, only rules about requests run.
type Response struct {
	Status  int         `json:"status"`
	Headers [][2]string `json:"headers"`
	Body    []byte      `json:"body"`
}

// Verdict is one line of standard output.
type Verdict struct {
	ID string `json:"id,omitempty"`
	// Rules whose match is logged, in the order of their matches.
	Rules []int `json:"rules"`
	// All rules that matched, also those that are not logged.
	All []int `json:"all"`
	// Status of the disruptive action; in detection mode the one that would have been.
	Status int `json:"status,omitempty"`
	// Rule of the disruptive action.
	By int `json:"by,omitempty"`
	// Anomaly scores by name.
	Scores  map[string]string `json:"scores"`
	Matches []Match           `json:"matches,omitempty"`
	Log     []string          `json:"log,omitempty"`
	Error   string            `json:"error,omitempty"`
}

// Match is a matched variable, with --verbose.
type Match struct {
	Rule    int    `json:"rule"`
	Name    string `json:"name"`
	Key     string `json:"key,omitempty"`
	Value   string `json:"value"`
	Message string `json:"message,omitempty"`
	Data    string `json:"data,omitempty"`
}

var scores = []string{
	"blocking_inbound_anomaly_score", "detection_inbound_anomaly_score",
	"blocking_outbound_anomaly_score", "detection_outbound_anomaly_score",
}

// What the rule set's regression tests expect of a configuration (tests/regression/README.md of the rule set).
const forRegressionTests = `
SecResponseBodyMimeType text/plain
SecAction "id:900005,phase:1,nolog,pass,ctl:ruleEngine=DetectionOnly,ctl:ruleRemoveById=910000,\
setvar:tx.blocking_paranoia_level=4,setvar:tx.crs_validate_utf8_encoding=1,setvar:tx.arg_name_length=100,\
setvar:tx.arg_length=400,setvar:tx.total_arg_length=64000,setvar:tx.max_num_args=255,\
setvar:tx.max_file_size=64100,setvar:tx.combined_file_sizes=65535"
`

const actions = `
SecDefaultAction "phase:3,log,auditlog,pass"
SecDefaultAction "phase:4,log,auditlog,pass"
SecDefaultAction "phase:5,log,auditlog,pass"
`

func main() {
	log.SetFlags(0)
	level := flag.Int("paranoia", 1, "paranoia level, 1 to 4")
	blocks := flag.Bool("block", false, "deny requests instead of detecting only")
	regression := flag.Bool("regression", false, "configure what the regression tests of the rule set expect")
	only := flag.String("rules", "", "file with directives to use instead of the rule set")
	extra := flag.String("before", "", "file with directives to read before the rule set")
	verbose := flag.Bool("verbose", false, "print matched variables")
	lines := flag.Bool("log", false, "print the lines of the error log")
	bench := flag.Bool("bench", false, "print CPU time by request")
	rounds := flag.Int("rounds", 500, "requests of each kind that --bench measures")
	flag.Parse()

	text, err := directives(*level, *blocks, *regression, *only, *extra)
	if err != nil {
		log.Fatal(err)
	}
	var logged []types.MatchedRule
	waf, err := coraza.NewWAF(coraza.NewWAFConfig().
		WithRootFS(coreruleset.FS).
		WithDirectives(text).
		WithErrorCallback(func(rule types.MatchedRule) { logged = append(logged, rule) }))
	if err != nil {
		log.Fatal(err)
	}
	if *bench {
		measure(waf, *rounds)
		return
	}
	out := bufio.NewWriter(os.Stdout)
	defer out.Flush()
	in := bufio.NewReaderSize(os.Stdin, 1<<20)
	decoder, encoder := json.NewDecoder(in), json.NewEncoder(out)
	encoder.SetEscapeHTML(false)
	for decoder.More() {
		var request Request
		if err := decoder.Decode(&request); err != nil {
			log.Fatal(err)
		}
		logged = logged[:0]
		tx := waf.NewTransaction()
		verdict := Verdict{ID: request.ID, Rules: []int{}, All: []int{}, Scores: map[string]string{}}
		if err := inspect(tx, &request); err != nil {
			verdict.Error = err.Error()
		}
		fill(&verdict, tx, logged, *verbose, *lines)
		tx.Close()
		if err := encoder.Encode(verdict); err != nil {
			log.Fatal(err)
		}
		out.Flush()
	}
}

func directives(level int, blocks, regression bool, only, extra string) (string, error) {
	var text strings.Builder
	text.WriteString("Include @coraza.conf-recommended\n")
	if blocks {
		text.WriteString("SecRuleEngine On\n")
	}
	text.WriteString("SecAuditEngine Off\n")
	if only != "" {
		bytes, err := os.ReadFile(only)
		text.Write(bytes)
		return text.String(), err
	}
	text.WriteString(actions)
	if regression {
		text.WriteString(forRegressionTests)
	} else {
		fmt.Fprintf(&text, "SecAction \"id:900000,phase:1,pass,t:none,nolog,setvar:tx.blocking_paranoia_level=%d\"\n", level)
	}
	if extra != "" {
		bytes, err := os.ReadFile(extra)
		if err != nil {
			return "", err
		}
		text.Write(bytes)
		text.WriteByte('\n')
	}
	text.WriteString("Include @crs-setup.conf.example\nInclude @owasp_crs/*.conf\n")
	return text.String(), nil
}

// bytesOf returns the bytes that the characters of a text stand for.
func bytesOf(text string) string {
	bytes := make([]byte, 0, len(text))
	for _, char := range text {
		bytes = append(bytes, byte(char))
	}
	return string(bytes)
}

// inspect runs all phases that the request has something for, until one of them denies it.
func inspect(tx types.Transaction, request *Request) error {
	defer tx.ProcessLogging()
	client := request.Client
	if client == "" {
		client = "127.0.0.1"
	}
	tx.ProcessConnection(client, 40000, "127.0.0.1", 80)
	tx.ProcessURI(bytesOf(request.Target), bytesOf(request.Method), bytesOf(request.Version))
	for _, header := range request.Headers {
		name, value := bytesOf(header[0]), bytesOf(header[1])
		tx.AddRequestHeader(name, value)
		if strings.EqualFold(name, "host") {
			tx.SetServerName(value)
		}
	}
	if tx.ProcessRequestHeaders() != nil {
		return nil
	}
	if len(request.Body) > 0 {
		if interruption, _, err := tx.WriteRequestBody(request.Body); interruption != nil || err != nil {
			return err
		}
	}
	if interruption, err := tx.ProcessRequestBody(); interruption != nil || err != nil {
		return err
	}
	response := request.Response
	if response == nil {
		return nil
	}
	for _, header := range response.Headers {
		tx.AddResponseHeader(bytesOf(header[0]), bytesOf(header[1]))
	}
	if tx.ProcessResponseHeaders(response.Status, request.Version) != nil {
		return nil
	}
	if tx.IsResponseBodyAccessible() && tx.IsResponseBodyProcessable() {
		if interruption, _, err := tx.WriteResponseBody(response.Body); interruption != nil || err != nil {
			return err
		}
	}
	_, err := tx.ProcessResponseBody()
	return err
}

func fill(verdict *Verdict, tx types.Transaction, logged []types.MatchedRule, verbose, lines bool) {
	for _, rule := range logged {
		verdict.Rules = append(verdict.Rules, rule.Rule().ID())
		if lines {
			verdict.Log = append(verdict.Log, rule.ErrorLog())
		}
	}
	for _, rule := range tx.MatchedRules() {
		verdict.All = append(verdict.All, rule.Rule().ID())
		if !verbose {
			continue
		}
		for _, data := range rule.MatchedDatas() {
			verdict.Matches = append(verdict.Matches, Match{
				Rule: rule.Rule().ID(), Name: data.Variable().Name(), Key: data.Key(), Value: data.Value(),
				Message: data.Message(), Data: data.Data(),
			})
		}
	}
	if interruption := tx.Interruption(); interruption != nil {
		verdict.Status, verdict.By = interruption.Status, interruption.RuleID
	}
	state, ok := tx.(plugintypes.TransactionState)
	if !ok {
		return
	}
	variables := state.Variables()
	for _, name := range scores {
		if values := variables.TX().Get(name); len(values) > 0 {
			verdict.Scores[name] = values[0]
		}
	}
}
