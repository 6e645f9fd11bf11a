package pubsub

// Ack ids: as long as the service's (about 180 characters), naming the subscription, the message and which delivery of it.

import (
	"strconv"
	"strings"
)

const (
	ackHead   = 8 + 16 + 8
	ackLength = 180
)

var ackTail = strings.Repeat("QV5AEkw2GQ9JUytDCypYEU4EISE-MD5FU0RQBhYsXUZIUTcZCGhRDk9eIz81IChFFwlPAihdeTNW", 3)[:ackLength-ackHead]

func appendHex(to []byte, value uint64, digits int) []byte {
	const hex = "0123456789abcdef"
	for shift := (digits - 1) * 4; shift >= 0; shift -= 4 {
		to = append(to, hex[value>>shift&15])
	}
	return to
}

func ackID(subscription uint32, number uint64, delivery uint32) string {
	room := make([]byte, 0, ackLength)
	room = appendHex(room, uint64(subscription), 8)
	room = appendHex(room, number, 16)
	room = appendHex(room, uint64(delivery), 8)
	return string(append(room, ackTail...))
}

// parseAckID gives false for what no subscription has ever given out.
func parseAckID(id string) (subscription uint32, number uint64, delivery uint32, isWell bool) {
	if len(id) != ackLength || id[ackHead:] != ackTail {
		return 0, 0, 0, false
	}
	sub, err1 := strconv.ParseUint(id[:8], 16, 32)
	number, err2 := strconv.ParseUint(id[8:24], 16, 64)
	which, err3 := strconv.ParseUint(id[24:32], 16, 32)
	return uint32(sub), number, uint32(which), err1 == nil && err2 == nil && err3 == nil
}
