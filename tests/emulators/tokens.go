package main

// Who gives tokens: token server, STS, metadata and impersonation server, a source of foreign tokens, and a call that needs
// a token. What it answers is set by /control; what it has seen is at /counts.

import (
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"
)

const (
	account = "weir@acme.iam.gserviceaccount.com"
	keyID   = "key-of-the-run"
	foreign = "foreign-token-of-the-run"
	refresh = "refresh-token-of-the-run"
	client  = "client-of-the-run"
	secret  = "client-secret-of-the-run"
)

type grant struct {
	ends time.Time
	kind string
}

type tokenServer struct {
	mu      sync.Mutex
	key     *rsa.PrivateKey
	grants  map[string]grant
	number  int
	counts  map[string]int
	skew    time.Duration // of this server's clock
	life    int           // seconds
	status  int           // 0: as it should be
	slow    time.Duration
	revoked bool // logins and keys are not taken
	deaf    bool // tokens are not taken, however new
}

func newTokenServer() (*tokenServer, error) {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	return &tokenServer{key: key, grants: map[string]grant{}, counts: map[string]int{}, life: 3600}, err
}

func (s *tokenServer) now() time.Time { return time.Now().Add(s.skew) }

func (s *tokenServer) grant(kind string) string {
	s.number++
	token := fmt.Sprintf("ya29.%s-%d", kind, s.number)
	s.grants[token] = grant{time.Now().Add(time.Duration(s.life) * time.Second), kind}
	s.counts["granted"]++
	return token
}

func (s *tokenServer) refuse(w http.ResponseWriter, code, text string) {
	s.counts["refused"]++
	say(w, 400, map[string]any{"error": code, "error_description": text})
}

// checkJWT looks at a signed claim as Google does.
func (s *tokenServer) checkJWT(jwt string) (map[string]any, string) {
	parts := strings.Split(jwt, ".")
	if len(parts) != 3 {
		return nil, "not three parts"
	}
	decoded := make([][]byte, 3)
	for i, part := range parts {
		var err error
		if decoded[i], err = base64.RawURLEncoding.DecodeString(part); err != nil {
			return nil, "no base64url: " + err.Error()
		}
	}
	sum := sha256.Sum256([]byte(parts[0] + "." + parts[1]))
	if rsa.VerifyPKCS1v15(&s.key.PublicKey, crypto.SHA256, sum[:], decoded[2]) != nil {
		return nil, "Invalid JWT Signature."
	}
	var header, claims map[string]any
	if json.Unmarshal(decoded[0], &header) != nil || json.Unmarshal(decoded[1], &claims) != nil {
		return nil, "no JSON"
	}
	if header["alg"] != "RS256" || header["kid"] != keyID || claims["iss"] != account {
		return nil, "another's header or issuer"
	}
	issued, ends, now := claims["iat"].(float64), claims["exp"].(float64), float64(s.now().Unix())
	if issued > now+300 || ends < now-300 || ends-issued > 3600 {
		return nil, "Invalid JWT: Token must be a short-lived token (60 minutes) and in a reasonable timeframe."
	}
	return claims, ""
}

func (s *tokenServer) give(w http.ResponseWriter, kind string) {
	say(w, 200, map[string]any{"access_token": s.grant(kind), "expires_in": s.life, "token_type": "Bearer"})
}

// token is the token server of OAuth.
func (s *tokenServer) token(w http.ResponseWriter, r *http.Request) {
	r.ParseForm()
	switch r.PostForm.Get("grant_type") {
	case "urn:ietf:params:oauth:grant-type:jwt-bearer":
		claims, wrong := s.checkJWT(r.PostForm.Get("assertion"))
		if wrong == "" && claims["aud"] != "https://oauth2.googleapis.com/token" {
			wrong = "another audience"
		}
		if wrong != "" || s.revoked {
			s.refuse(w, "invalid_grant", wrong)
			return
		}
		s.give(w, "key")
	case "refresh_token":
		id, pass, isBasic := r.BasicAuth()
		if !isBasic {
			id, pass = r.PostForm.Get("client_id"), r.PostForm.Get("client_secret")
		}
		if id != client || pass != secret {
			s.refuse(w, "invalid_client", "The OAuth client was not found.")
		} else if r.PostForm.Get("refresh_token") != refresh || s.revoked {
			s.refuse(w, "invalid_grant", "Token has been expired or revoked.")
		} else {
			s.give(w, "user")
		}
	default:
		s.refuse(w, "unsupported_grant_type", "Invalid grant_type")
	}
}

func (s *tokenServer) sts(w http.ResponseWriter, r *http.Request) {
	r.ParseForm()
	want := map[string]string{"grant_type": "urn:ietf:params:oauth:grant-type:token-exchange", "audience": "//iam.googleapis.com/pool",
		"requested_token_type": "urn:ietf:params:oauth:token-type:access_token", "subject_token_type": "urn:ietf:params:oauth:token-type:jwt",
		"subject_token": foreign}
	for name, value := range want {
		if r.PostForm.Get(name) != value || s.revoked {
			s.refuse(w, "invalid_grant", "not as it should be: "+name)
			return
		}
	}
	say(w, 200, map[string]any{"access_token": s.grant("sts"), "issued_token_type": want["requested_token_type"], "token_type": "Bearer",
		"expires_in": s.life})
}

// holds tells whether the request has a token that is good; it answers if not.
func (s *tokenServer) holds(w http.ResponseWriter, r *http.Request) bool {
	token := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
	known, isKnown := s.grants[token]
	if !isKnown && strings.Count(token, ".") == 2 {
		_, wrong := s.checkJWT(token)
		known, isKnown = grant{time.Now().Add(time.Hour), "signed"}, wrong == "" && !s.revoked
	}
	if isKnown && time.Now().Before(known.ends) && !s.deaf {
		s.counts["taken "+known.kind]++
		return true
	}
	s.counts["not taken"]++
	say(w, 401, map[string]any{"error": map[string]any{"code": 401, "status": "UNAUTHENTICATED", "message": "Request had invalid credentials."}})
	return false
}

func (s *tokenServer) impersonate(w http.ResponseWriter, r *http.Request) {
	var body struct {
		Scope    []string
		Lifetime string
	}
	if json.NewDecoder(r.Body).Decode(&body) != nil || len(body.Scope) != 1 || !strings.HasSuffix(body.Lifetime, "s") {
		sayError(w, 400, "badRequest")
	} else if s.holds(w, r) {
		token := s.grant("impersonated")
		say(w, 200, map[string]any{"accessToken": token, "expireTime": s.now().Add(time.Duration(s.life) * time.Second).UTC().Format(time.RFC3339)})
	}
}

func (s *tokenServer) metadata(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Metadata-Flavor", "Google")
	if r.Header.Get("Metadata-Flavor") != "Google" || r.Header.Get("X-Forwarded-For") != "" {
		w.WriteHeader(403)
	} else {
		s.give(w, "metadata")
	}
}

func (s *tokenServer) subject(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get("X-Asks") != "weir" {
		w.WriteHeader(403)
		return
	}
	say(w, 200, map[string]any{"value": foreign})
}

func (s *tokenServer) control(r *http.Request) {
	number := func(name string, set func(int)) {
		if value, err := strconv.Atoi(r.URL.Query().Get(name)); err == nil {
			set(value)
		}
	}
	number("skew_s", func(n int) { s.skew = time.Duration(n) * time.Second })
	number("life_s", func(n int) { s.life = n })
	number("status", func(n int) { s.status = n })
	number("slow_ms", func(n int) { s.slow = time.Duration(n) * time.Millisecond })
	number("revoked", func(n int) { s.revoked = n != 0 })
	number("deaf", func(n int) { s.deaf = n != 0 })
	number("forget", func(n int) { s.grants, s.counts = map[string]grant{}, map[string]int{} })
}

func (s *tokenServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	slow, status := s.slow, s.status
	s.mu.Unlock()
	isOurs := r.URL.Path == "/control" || r.URL.Path == "/counts"
	if isOurs {
		slow, status = 0, 0
	}
	time.Sleep(slow)
	s.mu.Lock()
	defer s.mu.Unlock()
	w.Header().Set("Date", s.now().UTC().Format(http.TimeFormat))
	if !isOurs {
		s.counts[r.URL.Path]++
	}
	if status != 0 && r.URL.Path != "/check" {
		w.WriteHeader(status)
		return
	}
	switch {
	case r.URL.Path == "/token":
		s.token(w, r)
	case r.URL.Path == "/sts":
		s.sts(w, r)
	case r.URL.Path == "/impersonate:generateAccessToken":
		s.impersonate(w, r)
	case r.URL.Path == "/computeMetadata/v1/instance/service-accounts/default/token":
		s.metadata(w, r)
	case r.URL.Path == "/computeMetadata/v1/instance/service-accounts/default/email":
		w.Header().Set("Metadata-Flavor", "Google")
		fmt.Fprintln(w, account)
	case r.URL.Path == "/subject":
		s.subject(w, r)
	case r.URL.Path == "/control":
		s.control(r)
		say(w, 200, map[string]any{})
	case r.URL.Path == "/counts":
		say(w, 200, s.counts)
	case r.URL.Path == "/check":
		if s.holds(w, r) {
			say(w, 200, map[string]any{})
		}
	default:
		w.WriteHeader(404)
	}
}

// writeFiles makes a file of credentials of each kind, which lead to the server at `base`.
func (s *tokenServer) writeFiles(folder, base string) error {
	der, err := x509.MarshalPKCS8PrivateKey(s.key)
	if err != nil {
		return err
	}
	user := map[string]any{"type": "authorized_user", "client_id": client, "client_secret": secret, "refresh_token": refresh, "token_uri": base + "/token"}
	external := func(source map[string]any, more map[string]any) map[string]any {
		file := map[string]any{"type": "external_account", "audience": "//iam.googleapis.com/pool", "token_url": base + "/sts",
			"subject_token_type": "urn:ietf:params:oauth:token-type:jwt", "credential_source": source}
		for name, value := range more {
			file[name] = value
		}
		return file
	}
	subject := filepath.Join(folder, "subject")
	for name, content := range map[string]map[string]any{
		"service": {"type": "service_account", "client_email": account, "private_key_id": keyID, "project_id": "acme",
			"private_key": string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})), "token_uri": base + "/token"},
		"user":          user,
		"external_user": {"type": "external_account_authorized_user", "client_id": client, "client_secret": secret, "refresh_token": refresh, "token_url": base + "/token"},
		"external_file": external(map[string]any{"file": subject}, nil),
		"external_url": external(map[string]any{"url": base + "/subject", "headers": map[string]any{"X-Asks": "weir"},
			"format": map[string]any{"type": "json", "subject_token_field_name": "value"}},
			map[string]any{"service_account_impersonation_url": base + "/impersonate:generateAccessToken"}),
		"impersonated": {"type": "impersonated_service_account", "source_credentials": user,
			"service_account_impersonation_url": base + "/impersonate:generateAccessToken"},
	} {
		text, _ := json.Marshal(content)
		if err := os.WriteFile(filepath.Join(folder, name+".json"), text, 0o600); err != nil {
			return err
		}
	}
	return os.WriteFile(subject, []byte(foreign+"\n"), 0o600)
}
