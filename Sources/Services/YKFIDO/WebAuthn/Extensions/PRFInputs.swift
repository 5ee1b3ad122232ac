// SPDX-License-Identifier: Apache-2.0

import YKWire

/// The inputs of the prf extension (WebAuthn Level 3 §10.1.4).
struct PRFInputs {
    let salts: HMACSecretSalts?
    let saltsByCredential: [[UInt8]: HMACSecretSalts]
    /// Whether there are salts per credential, possibly none.
    let isByCredential: Bool

    /// The member `prf`; `nil` if it is absent.
    init?(_ inputs: JSONMembers) throws(WebAuthnError) {
        guard let prf = try inputs.members("prf") else { return nil }
        salts = try prf.members("eval").map(Self.salts)
        let table = try prf.members("evalByCredential")
        isByCredential = table != nil
        var salts: [[UInt8]: HMACSecretSalts] = [:]
        for member in table?.object.members ?? [] {
            let path = prf.path(of: "evalByCredential.\(member.key)")
            guard let id = try? Base64.decode(member.key), !id.isEmpty else {
                throw .member(path, problem: "the key is not a credential identifier in base64url", name: .syntax)
            }
            salts[id] = try Self.salts(JSONMembers(member.value, at: path))
        }
        saltsByCredential = salts
    }

    private static func salts(_ members: JSONMembers) throws(WebAuthnError) -> HMACSecretSalts {
        HMACSecretSalts(prf: try members.required("first", .bytes), try members.optional("second", .bytes))
    }
}
