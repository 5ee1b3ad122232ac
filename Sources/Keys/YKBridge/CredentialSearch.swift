// SPDX-License-Identifier: Apache-2.0

import YKProtocols
import YKWire

/// A search for credentials: an assertion without user presence (option `up` false), by which programs find out whether a
/// key has a credential.
///
/// The key would sign with nobody there, and some relying parties accept that. So a search, whoever it is for, carries a
/// hash of the bridge's own: its signature is over a hash that no client data has, and of use to nobody.
package struct CredentialSearch: Hashable, Sendable {
    /// What is signed instead of what the program wants signed.
    static let hash = [UInt8](repeating: 0, count: 32)

    private typealias Key = CTAPProtocol.GetAssertion.Request
    private typealias Reply = CTAPProtocol.GetAssertion.Reply

    /// The relying party.
    let site: String
    /// Whether it has the proof of a PIN, which only a program that searches for the same hash can have.
    let isVerified: Bool
    /// The message for the key.
    let message: [UInt8]

    /// Reads the parameters of an assertion; `nil` if it needs the user.
    ///
    /// - Parameter dropsExtensions: Whether a search for extensions is one without; otherwise it needs the user, since an
    ///   extension can derive a secret.
    init?(_ map: CBOR.Map, dropsExtensions: Bool) {
        guard map[Key.options]?.map?["up"]?.bool == false, let site = map[Key.rpId]?.text,
            dropsExtensions || map[Key.extensions]?.map?.entries.isEmpty ?? true
        else { return nil }
        var parameters: CBOR.Map = [Key.rpId.cbor: .text(site), Key.clientDataHash.cbor: .bytes(Self.hash)]
        if let list = map[Key.allowList]?.array, !list.isEmpty { parameters[Key.allowList] = .array(list) }
        parameters[Key.options] = ["up": false]
        let proof = map[Key.pinUvAuthParam]
        isVerified = proof?.bytes?.isEmpty == false && map[Key.clientDataHash] == .bytes(Self.hash)
        if isVerified {
            parameters[Key.pinUvAuthParam] = proof
            parameters[Key.pinUvAuthProtocol] = map[Key.pinUvAuthProtocol]
        }
        self.site = site
        message = [CTAPProtocol.Command.getAssertion] + CBOR.map(parameters).encoded
    }

    /// The key's answer for a far end: the credential, and what makes the answer one.
    static func answer(_ answer: [UInt8]) -> [UInt8] {
        guard answer.first == CTAPProtocol.Status.ok,
            let map = (try? CBOR(decoding: Array(answer.dropFirst())))?.map
        else { return answer }
        var kept = CBOR.Map()
        for key in [Reply.credential, .authData, .signature] { kept[key] = map[key] }
        return [CTAPProtocol.Status.ok] + CBOR.map(kept).encoded
    }
}
