// SPDX-License-Identifier: Apache-2.0

import YKTransport
import YKWire

/// How a command proves user verification.
enum VerificationMeans {
    /// No proof.
    case none
    /// A proof made with a token.
    case token(FIDOToken)
    /// Built-in user verification in the command itself; CTAP 2.0 keys.
    case inCommand

    func auth(over hash: [UInt8]) -> PINUVAuth? {
        if case .token(let token) = self { token.auth(over: hash) } else { nil }
    }
    var option: Bool? { if case .inCommand = self { true } else { nil } }
}

extension FIDOSession {
    /// Decides whether the user must be verified (CTAP 2.2 §6.1.1, §6.2.1), and performs the verification.
    func verify(
        _ wish: UserVerification, _ permissions: ClientPIN.Permissions, rpID: String, isResident: Bool
    ) throws(FIDOError) -> VerificationMeans {
        let info = try info()
        let canVerify = permissions.canComeFromPIN(info) || info.hasBuiltInUV
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

    /// Runs an operation with a means of user verification. If built-in verification in the command itself fails, the
    /// PIN is used.
    func verified<Value>(
        _ wish: UserVerification, _ permissions: ClientPIN.Permissions, rpID: String, isResident: Bool,
        _ body: (VerificationMeans) throws(FIDOError) -> Value
    ) throws(FIDOError) -> Value {
        let means = try verify(wish, permissions, rpID: rpID, isResident: isResident)
        do { return try body(means) } catch {
            guard case .inCommand = means, let fallback = PINRequest.Fallback(inCommand: error),
                permissions.canComeFromPIN(try info())
            else { throw error }
            return try body(.token(try access(permissions, rpID: rpID, after: fallback)))
        }
    }

    /// A token permits one credential or assertion, but large blobs may be written with it afterwards (CTAP 2.2
    /// §6.5.2.1); CTAP 2.0 tokens are unchanged.
    func tokenWasUsed() {
        guard let permissions = token?.permissions else { return }
        token = permissions.contains(.largeBlobWrite) ? token?.restricted(to: .largeBlobWrite) : nil
    }
}
