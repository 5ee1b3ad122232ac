// SPDX-License-Identifier: Apache-2.0

import YKProtocols

extension CardChannel {
    /// Selects the management application and returns the version that it reports; `nil` for a card without one, and
    /// for a CanoKey, whose imitation reports a YubiKey's. Nothing is selected afterwards that another application
    /// could not be selected from.
    package func managementVersion() throws(CardError) -> FirmwareVersion? {
        guard !identity.isCanoKey, secureChannel == nil else { return nil }
        do {
            let version = try? FirmwareVersion(in: try select(.management))
            try version.map(leaveManagement)
            return version
        } catch {
            switch error {
            case .link(.replay), .appletMissing, .status, .malformed, .secureChannel, .endlessReply, .tooLong:
                return nil
            case .link: throw error
            }
        }
    }

    /// NEO 3.x stays in the management application until it gets a command that it cannot read (ykman 5.9.2).
    package func leaveManagement(of version: FirmwareVersion) throws(CardError) {
        guard version.major == 3 else { return }
        do { _ = try exchange(raw: [0xA4, 0x04, 0x00, 0x08]) } catch {
            guard case .link(.replay) = error else { throw error }
        }
    }
}
