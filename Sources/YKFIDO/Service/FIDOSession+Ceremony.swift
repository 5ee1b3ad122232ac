// SPDX-License-Identifier: Apache-2.0

import YKTransport
import YKWire

/// How a command shows that the user was verified.
enum VerificationMeans {
    /// Not at all.
    case none
    /// By a proof under a token.
    case token(FIDOToken)
    /// By the key's own means, in the command itself; keys of CTAP 2.0.
    case inCommand

    func auth(over hash: [UInt8]) -> PINUVAuth? {
        if case .token(let token) = self { token.auth(over: hash) } else { nil }
    }
    var option: Bool? { if case .inCommand = self { true } else { nil } }
}

extension FIDOSession {
    /// Decides whether the user has to be verified (CTAP 2.2 §6.1.1, §6.2.1), and has it done.
    func verify(
        _ wish: UserVerification, _ permissions: ClientPIN.Permissions, rpID: String, isResident: Bool
    ) throws(FIDOError) -> VerificationMeans {
        let info = try info()
        let usesPIN = info.hasPIN && info.option(.noMcGaPermissionsWithClientPin) != true
        let canVerify = usesPIN || info.hasBuiltInUV
        let isCreation = permissions.contains(.makeCredential)
        let keyInsists =
            info.option(.alwaysUv) == true
            || isCreation && canVerify && (isResident || info.option(.makeCredUvNotRqd) != true)
        switch wish {
        case .required where !canVerify: throw info.takesPIN ? .pinNotSet : .unsupported("uv")
        case .discouraged where !keyInsists: return .none
        case .preferred where !canVerify && !keyInsists: return .none
        default: break
        }
        guard canVerify else { throw .pinNotSet }
        if info.hasBuiltInUV, !info.hasPermissions { return .inCommand }
        return .token(try access(permissions, rpID: rpID))
    }

    /// A token permits one credential or assertion (CTAP 2.2 §6.5.2.1): afterwards it is forgotten, unless the key is
    /// of CTAP 2.0.
    func tokenWasUsed() { if token?.permissions != nil { token = nil } }

    /// Which credentials of a list to send: all when they fit the key's limits, else the ones among them that the
    /// key has, found by asking without a touch.
    func fitting(
        _ list: [CredentialDescriptor], rpID: String, _ means: VerificationMeans
    ) throws(FIDOError) -> [CredentialDescriptor] {
        let info = try info()
        let longest = Int(clamping: info.maxCredentialIDLength ?? UInt64(AuthenticatorData.credentialIDLimit))
        let possible = list.filter { $0.id.count <= longest }
        let most = Int(clamping: info.maxCredentialsInList ?? .max)
        guard possible.count > most || Self.size(possible) > ctap.messageLimit - 640 else { return possible }
        for batch in batches(possible, most: most) {
            if let hit = try known(batch, rpID: rpID, means) { return [hit] }
        }
        return []
    }

    /// The credential of a batch that the key has, found without a touch (CTAP 2.2 §6.1.1, pre-flight).
    private func known(
        _ batch: [CredentialDescriptor], rpID: String, _ means: VerificationMeans
    ) throws(FIDOError) -> CredentialDescriptor? {
        let hash = [UInt8](repeating: 0, count: 32)
        var command = GetAssertion(rpID: rpID, clientDataHash: hash, allowList: batch)
        command.requiresPresence = false
        command.auth = means.auth(over: hash)
        do {
            let response = try send(command)
            return response.credential ?? (batch.count == 1 ? batch[0] : nil)
        } catch .noCredentials {
            return nil
        }
    }

    private func batches(_ list: [CredentialDescriptor], most: Int) -> [[CredentialDescriptor]] {
        var batches: [[CredentialDescriptor]] = []
        for entry in list {
            let fits = batches.last.map {
                $0.count < most && Self.size($0 + [entry]) <= ctap.messageLimit - 256
            }
            if fits == true, let last = batches.indices.last {
                batches[last].append(entry)
            } else {
                batches.append([entry])
            }
        }
        return batches
    }

    private static func size(_ list: [CredentialDescriptor]) -> Int { CBOR.array(list.map(\.cbor)).encoded.count }
}
