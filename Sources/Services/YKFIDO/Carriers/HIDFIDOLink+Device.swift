// SPDX-License-Identifier: Apache-2.0

public import YKTransport
import YKWire

extension HIDFIDOLink {
    /// Sends bytes for the key to echo (CTAPHID_PING), and checks that they come back unchanged.
    public func ping(_ bytes: [UInt8]) throws(FIDOLinkError) {
        let echo = try call(.ping, bytes, deadline: environment.deadline(), keepalive: { _ in })
        guard echo == bytes else {
            throw .malformed(WireError(.malformed, at: 0, "PING returned \(echo.count) different bytes"))
        }
    }

    /// Makes the key blink, if it supports that (CTAPHID_WINK).
    public func wink() throws(FIDOLinkError) {
        guard profile.canWink else { throw .notCarried(.wink) }
        _ = try call(.wink, [], deadline: environment.deadline(), keepalive: { _ in })
    }

    /// Reserves the key for this channel (CTAPHID_LOCK).
    ///
    /// - Parameter duration: How long, in whole seconds, at most 10; zero releases the key.
    public func lock(for duration: Duration) throws(FIDOLinkError) {
        let seconds = UInt8(min(max(duration.components.seconds, 0), 10))
        _ = try call(.lock, [seconds], deadline: environment.deadline(), keepalive: { _ in })
    }
}
