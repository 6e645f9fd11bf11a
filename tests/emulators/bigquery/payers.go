package bigquery

// The project that pays for a call, as its header says; counted as "METHOD paid by PROJECT".

import (
	"context"

	"google.golang.org/grpc/metadata"
)

const payerHeader = "x-goog-user-project"

// pays refuses who may not use the project: "serviceusage.services.use" withheld on it.
func (s *Server) pays(method, payer string) *failure {
	if payer == "" {
		return nil
	}
	s.counts.add("", method+" paid by "+payer, 1)
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.lacks("serviceusage.services.use", payer, "") {
		return nil
	}
	return fail("USER_PROJECT_DENIED", "Caller does not have required permission to use project %s. Grant the caller the "+
		"roles/serviceusage.serviceUsageConsumer role, or a custom role with the serviceusage.services.use permission.", payer)
}

func payerOf(ctx context.Context) string {
	sent, _ := metadata.FromIncomingContext(ctx)
	if said := sent.Get(payerHeader); len(said) > 0 {
		return said[0]
	}
	return ""
}
