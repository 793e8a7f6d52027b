package main

import (
	"encoding/json"
	"fmt"
	"log"
	"os"
	"runtime"
	"strings"
	"time"

	"github.com/corazawaf/coraza/v3"
)

// Requests that a client of an API sends; the gateway's own measurement sends the same ones.
func benchRequests() map[string]*Request {
	headers := [][2]string{
		{"Host", "api.example.com"},
		{"User-Agent", "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"},
		{"Accept", "application/json"},
		{"Accept-Encoding", "gzip, deflate, br"},
		{"Authorization", "Bearer eyJhbGciOiJSUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiJ1c3JfNDIifQ.c2lnbmF0dXJl"},
	}
	get := &Request{
		Method: "GET", Target: "/v1/orders?status=open&limit=50&sort=created_at", Version: "HTTP/1.1", Headers: headers,
	}
	body := jsonBody()
	post := &Request{
		Method: "POST", Target: "/v1/orders", Version: "HTTP/1.1", Body: body,
		Headers: append(append([][2]string{}, headers...),
			[2]string{"Content-Type", "application/json"}, [2]string{"Content-Length", fmt.Sprint(len(body))}),
	}
	return map[string]*Request{"GET with three parameters": get, "POST of 1 KB of JSON": post}
}

// jsonBody returns about 1 KB: numbers, short texts and one longer text.
func jsonBody() []byte {
	type item struct {
		SKU      string  `json:"sku"`
		Name     string  `json:"name"`
		Quantity int     `json:"quantity"`
		Price    float64 `json:"price"`
		Gift     bool    `json:"gift"`
	}
	order := struct {
		Customer string            `json:"customer"`
		Email    string            `json:"email"`
		Address  map[string]string `json:"address"`
		Items    []item            `json:"items"`
		Note     string            `json:"note"`
	}{
		Customer: "usr_42", Email: "jane.doe@example.com",
		Address: map[string]string{"street": "Main Street 12", "city": "Springfield", "zip": "62701", "country": "US"},
		Note:    strings.Repeat("Please ring twice and leave the parcel with the neighbours. ", 5),
	}
	for i := range 6 {
		order.Items = append(order.Items, item{fmt.Sprintf("SKU-%04d", i), "Garden chair, green", i + 1, 19.95, i%2 == 0})
	}
	bytes, err := json.Marshal(order)
	if err != nil {
		log.Fatal(err)
	}
	return bytes
}

// measure prints the CPU time of the process, which includes garbage collection, by request.
func measure(waf coraza.WAF, rounds int) {
	runtime.GC()
	var memory runtime.MemStats
	runtime.ReadMemStats(&memory)
	result := map[string]any{"heapMB": float64(memory.HeapAlloc) / 1e6}
	for name, request := range benchRequests() {
		for range rounds / 10 {
			once(waf, request)
		}
		cpu, start := cpuTime(), time.Now()
		for range rounds {
			once(waf, request)
		}
		result[name] = map[string]any{
			"cpuMicros":  float64((cpuTime() - cpu).Microseconds()) / float64(rounds),
			"wallMicros": float64(time.Since(start).Microseconds()) / float64(rounds),
			"bytes":      len(request.Body),
		}
	}
	if err := json.NewEncoder(os.Stdout).Encode(result); err != nil {
		log.Fatal(err)
	}
}

func once(waf coraza.WAF, request *Request) {
	tx := waf.NewTransaction()
	if err := inspect(tx, request); err != nil {
		log.Fatal(err)
	}
	if err := tx.Close(); err != nil {
		log.Fatal(err)
	}
}
