// SPDX-License-Identifier: Apache-2.0

import TerminalIO
import Verbs
import YKFIDO
import YKTransport
import YKWire

/// What the FIDO application reports about itself.
struct FIDO2Report: Report {
    /// What a key reveals only to the holder of a persistent token.
    struct Secrets {
        let identifier: [UInt8]?
        let credentialStoreState: [UInt8]?

        init(_ info: AuthenticatorInfo, _ token: FIDOToken) {
            identifier = info.identifier(for: token)
            credentialStoreState = info.credentialStoreState(for: token)
        }
    }

    let profile: FIDOLinkProfile
    /// `nil` for a key without FIDO2.
    var info: AuthenticatorInfo? {
        didSet { values = info?.members ?? [] }
    }
    var pinRetries: PINRetries?
    var uvRetries: Int?
    var secrets: Secrets?
    /// The file that a persistent token was written to.
    var tokenFile: String?
    private var values: [(name: String, value: JSONValue)] = []

    init(profile: FIDOLinkProfile) { self.profile = profile }

    static let members: [Member<Self>] =
        [
            Member("interface", "hid or card") { $0.profile.carrier == .hid ? "hid" : "card" },
            Member("deviceVersion", "as the transport reports it") { $0.profile.deviceVersion?.description },
            Member("ctap2") { $0.info != nil }, Member("u2f") { $0.profile.hasU2F },
        ] + AuthenticatorInfo.memberNames.map { name in Member(name) { $0.values.first { $0.name == name }?.value } }
        + [
            Member("pinRetries") { $0.pinRetries?.count }, Member("uvRetries") { $0.uvRetries },
            Member("identifier", "with a token") { $0.secrets?.identifier.map { Base64.encodeURL($0) } },
            Member("credentialStoreState", "with a token") {
                $0.secrets?.credentialStoreState.map { Base64.encodeURL($0) }
            },
            Member("token", "the file that was written") { $0.tokenFile },
        ]

    var lines: [String] {
        guard let info else { return [] }
        let description = AuthenticatorDescription(info: info, profile: profile, pin: pinRetries, uv: uvRetries)
        guard let secrets else { return description.lines }
        let rows = [("identifier", secrets.identifier), ("credential state", secrets.credentialStoreState)]
        return description.lines + [""] + Table.details(rows.map { [$0, $1.map { Hex.encode($0) } ?? "not reported"] })
    }
}
