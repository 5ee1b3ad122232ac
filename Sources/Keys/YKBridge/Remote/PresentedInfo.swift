// SPDX-License-Identifier: Apache-2.0

package import YKFIDO
import YKProtocols
import YKWire

/// The description of the key for programs at the far end: a CTAP 2.0 key that accepts no PIN but verifies its user
/// itself if the key has a PIN or a sensor. So programs request verification with the option `uv`, which is done at the
/// near end, and no PIN is typed at the far end. Nothing that identifies the individual key is passed on.
///
/// `makeCredUvNotRqd` is left out: for a key that has it and no PIN, Chromium requests no verification at registration,
/// even if the site requires it.
package enum PresentedInfo {
    /// The extensions of makeCredential and getAssertion that are passed on.
    static let creationExtensions = ["credProtect", "hmac-secret", "hmac-secret-mc", "credBlob"]
    static let assertionExtensions = ["hmac-secret", "credBlob"]
    /// The bytes that a proof adds to a message.
    private static let proofSize = 64

    private typealias Key = CTAPProtocol.GetInfo.Reply

    /// The answer to getInfo, with its status.
    ///
    /// - Parameter isLocal: Whether the programs are on this machine, where the model of the key is no secret.
    package static func answer(_ info: AuthenticatorInfo, isLocal: Bool = false) -> [UInt8] {
        let aaguid = isLocal ? info.map[Key.aaguid]?.bytes : nil
        let extensions = info.extensions.filter(creationExtensions.contains)
        var options: CBOR.Map = ["up": true]
        if info.option(.rk) == true { options["rk"] = true }
        if info.hasPIN || info.hasBuiltInUV { options["uv"] = true }
        var map: CBOR.Map = [
            Key.versions.cbor: ["FIDO_2_0"], Key.aaguid.cbor: .bytes(aaguid ?? [UInt8](repeating: 0, count: 16)),
            Key.options.cbor: .map(options), Key.transports.cbor: ["usb"],
        ]
        if !extensions.isEmpty { map[Key.extensions] = .array(extensions.map(CBOR.text)) }
        let size = info.maxMessageSize > 1024 + proofSize ? info.maxMessageSize - proofSize : info.maxMessageSize
        map[Key.maxMsgSize] = .unsigned(UInt64(min(size, CTAPHID.messageLimit)))
        if extensions.contains(where: { $0.hasPrefix("hmac-secret") }), !info.pinProtocols.isEmpty {
            map[Key.pinUvAuthProtocols] = .array(protocols(of: info).map(CBOR.unsigned))
        }
        map[Key.maxCredentialCountInList] = info.maxCredentialsInList.map(CBOR.unsigned)
        map[Key.maxCredentialIdLength] = info.maxCredentialIDLength.map(CBOR.unsigned)
        map[Key.algorithms] = info.map[Key.algorithms]
        if extensions.contains("credBlob") { map[Key.maxCredBlobLength] = info.map[Key.maxCredBlobLength] }
        return [CTAPProtocol.Status.ok] + CBOR.map(map).encoded
    }

    /// The protocols that encrypt the salts of secrets: the first one alone if the key has it, since CTAP 2.0 knows no other.
    ///
    /// Firefox 153 takes the first of the list, and names it in the request only if it has verified the user by a token. The
    /// key then reads the salts by protocol one and refuses them, and at its second attempt Firefox ends (authenticator-rs:
    /// "hmac-secret inputs from PRF already initialized").
    private static func protocols(of info: AuthenticatorInfo) -> [UInt64] {
        info.pinProtocols.contains(1) ? [1] : info.pinProtocols
    }
}
