// SPDX-License-Identifier: Apache-2.0

import YKProtocols
public import YKTransport
import YKWire

/// The FIPS mode of a YubiKey FIPS of the 4 series, which its U2F application reports.
public enum FIPSMode {
    /// Returns whether it is on (vendor instruction 46 of U2F): 9000 for yes, 6A81 for no.
    ///
    /// - Throws: `card(.status)` for any other answer.
    public static func isOn(_ link: sending any FIDOLink) throws(ManagementError) -> Bool {
        let reply: [UInt8]
        do {
            reply = try link.call(
                .msg, [0x00, FIDOProtocol.Instruction.fipsMode, 0x00, 0x00, 0x00, 0x00, 0x00],
                deadline: link.environment.deadline(),
                keepalive: { _ in })
        } catch {
            throw .fido(error, during: "VERIFY FIPS MODE")
        }
        let answer = try lift({ ManagementError.malformed($0, during: "VERIFY FIPS MODE") }) { () throws(WireError) in
            try ResponseAPDU(decoding: reply)
        }
        switch answer.status {
        case .ok: return true
        case .functionNotSupported: return false
        default: throw .card(.status(answer.status, during: "VERIFY FIPS MODE"))
        }
    }
}
