// SPDX-License-Identifier: Apache-2.0

public import YKTransport
import YKWire

extension HIDFIDOLink {
    /// Sends bytes for the key to echo (CTAPHID_PING), and checks that they come back unchanged.
    public func ping(_ bytes: [UInt8]) throws(FIDOLinkError) {
        let echo = try call(.ping, bytes, deadline: environment.deadline(), keepalive: { _ in })
        guard echo == bytes else {
            throw .malformed(WireError(.malformed, at: 0, "PING came back with \(echo.count) other bytes"))
        }
    }

    /// Makes the key blink, if it supports that (CTAPHID_WINK).
    public func wink() throws(FIDOLinkError) {
        guard profile.canWink else { throw .notCarried(.wink) }
        _ = try call(.wink, [], deadline: environment.deadline(), keepalive: { _ in })
    }

    /// Reserves the key for this channel for at most 10 seconds; 0 releases it (CTAPHID_LOCK).
    public func lock(seconds: UInt8) throws(FIDOLinkError) {
        _ = try call(.lock, [min(seconds, 10)], deadline: environment.deadline(), keepalive: { _ in })
    }
}
