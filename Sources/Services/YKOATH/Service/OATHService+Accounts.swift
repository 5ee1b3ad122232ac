// SPDX-License-Identifier: Apache-2.0

import YKCrypto
import YKTransport
import YKWire

extension OATHService {
    /// Writes an account (PUT), overwriting one of the same name: check ``conflicts(with:)`` first.
    ///
    /// An invalid account is refused before anything is sent: `emptyName`, `nameTooLong`, `emptySecret`,
    /// `unsupportedDigits`, `unsupportedKind`, `unsupported`. The key answers `full` or `locked`.
    public func put(_ new: NewOATHAccount) throws(OATHError) {
        try check(new.id)
        guard let hash = new.algorithm.hash, [.totp, .hotp].contains(new.id.type) else {
            throw .unsupportedKind(new.id.type, new.algorithm)
        }
        guard let digits = UInt8(exactly: new.digits), (6...8).contains(digits) else {
            throw .unsupportedDigits(new.digits)
        }
        if new.secret.value.isEmpty { throw .emptySecret }
        if new.needsTouch { try require(.touch) }
        if new.algorithm == .sha512 { try require(.sha512) }
        let key = OATHKey(new.secret.value, algorithm: hash)
        let counter = new.id.type == .hotp ? new.counter : 0
        try session.send(
            PutAccount(
                account: new.id, algorithm: new.algorithm, digits: digits, key: key, needsTouch: new.needsTouch,
                counter: counter))
    }

    /// Removes an account (DELETE).
    public func delete(_ id: OATHAccountID) throws(OATHError) {
        try session.send(DeleteAccount(account: id.rawName))
    }

    /// Renames an account (RENAME); YubiKeys support this from firmware 5.3.1. Its type does not change.
    public func rename(_ id: OATHAccountID, to new: OATHAccountID) throws(OATHError) {
        try require(.rename)
        try check(new)
        try session.send(RenameAccount(account: id.rawName, newName: new.rawName))
    }

    /// Replaces an account of the same name on keys that refuse to overwrite it with ``put(_:)``.
    ///
    /// The key holds the old account or the new one at every moment. If the key supports renaming, the old account is
    /// called `ykit-replaced` until the new one is stored; otherwise the new account is stored as `ykit-replacing`
    /// before the old one is deleted.
    public func replace(_ old: OATHAccountID, with new: NewOATHAccount) throws(OATHError) {
        let names = Set(try accounts().map(\.id.rawName))
        let spare = Self.spareName("ykit-replaced", like: old, besides: names)
        do { try rename(old, to: spare) } catch {
            guard case .unsupported(.rename, _, _) = error else { throw error }
            return try replaceWithoutRenaming(old, with: new, besides: names)
        }
        do { try put(new) } catch {
            try? rename(spare, to: old)
            throw error
        }
        do { try delete(spare) } catch { throw .unfinished(.oldRemains(spare), error) }
    }

    private func replaceWithoutRenaming(
        _ old: OATHAccountID, with new: NewOATHAccount, besides names: Set<[UInt8]>
    ) throws(OATHError) {
        var copy = new
        copy.id = Self.spareName("ykit-replacing", like: new.id, besides: names)
        try put(copy)
        do { try delete(old) } catch {
            // Only a refusal says that the old one is still there; otherwise the copy may be all that is left.
            switch error.cardCause {
            case nil, .status: try? delete(copy.id)
            default: break
            }
            throw error
        }
        do { try put(new) } catch { throw .unfinished(.newIsNamed(copy.id), error) }
        do { try delete(copy.id) } catch { throw .unfinished(.copyRemains(copy.id), error) }
    }

    /// A name that is not in use.
    private static func spareName(
        _ name: String, like id: OATHAccountID, besides names: Set<[UInt8]>
    ) -> OATHAccountID {
        var spare = OATHAccountID(issuer: nil, name: name, period: id.period, type: id.type)
        var number = 2
        while names.contains(spare.rawName) {
            spare = OATHAccountID(issuer: nil, name: "\(name)-\(number)", period: id.period, type: id.type)
            number += 1
        }
        return spare
    }

    /// Removes all accounts and the password (RESET).
    public func reset() throws(OATHError) {
        try session.send(ResetOATHApplication())
        do { try session.startOver() } catch { throw .unfinished(.reset, error) }
    }

    /// Finds accounts whose names conflict with a new one (LIST).
    public func conflicts(with id: OATHAccountID) throws(OATHError) -> OATHNameConflicts {
        OATHNameConflicts(of: id, among: try accounts(), info: session.info)
    }

    private func check(_ id: OATHAccountID) throws(OATHError) {
        if id.name.isEmpty || id.issuer == nil && id.name.hasSuffix(":") { throw .emptyName }
        guard id.rawName.count <= OATHAccountID.byteLimit else { throw .nameTooLong(bytes: id.rawName.count) }
    }

    private func require(_ feature: OATHFeature) throws(OATHError) {
        if session.info.supports(feature) == false { throw .unsupported(feature, info: session.info) }
    }
}
