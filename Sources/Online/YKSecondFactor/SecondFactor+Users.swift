// SPDX-License-Identifier: Apache-2.0

import YKHTTP
public import YKPrivacyIDEA

extension SecondFactor {
    /// Creates a user with a factor that sends PINs (registerUserOnAllWeb).
    ///
    /// - Parameters:
    ///   - channel: The channel for PINs; the destination is read from the user's record at each use.
    ///   - isDisabled: Whether the factor is initially disabled.
    ///   - resolver: The user store; `nil` if the realm has only one.
    /// - Returns: The factor's serial number. Under the policy `verify_enrollment` the factor waits for its PIN.
    /// - Throws: `userExists`, `invalid` or `server`. The user is deleted again if the factor cannot be created.
    public func addUser(
        _ user: NewUser, _ channel: PINChannel, isDisabled: Bool = false, resolver: String? = nil
    ) async throws(SecondFactorError) -> Factor {
        try check(user.name)
        guard (channel == .sms ? user.mobile : user.email)?.isEmpty == false else {
            throw .invalid(channel == .sms ? "number" : "address")
        }
        // The server answers 500 if the name already exists.
        let known = try await asking { () async throws(ServerError) in
            try await server.user(user.name, realm: realm)
        }
        guard known == nil else { throw .userExists(user.name) }
        let store = try await self.resolver(resolver)
        try await changing(.user) { () async throws(ServerError) in try await server.add(user, store: store)
        }
        do throws(SecondFactorError) {
            let serial = try await enrol(user.name, channel, to: nil).serial
            if isDisabled {
                try await asking { () async throws(ServerError) in
                    _ = try await server.disable(.serial(serial))
                }
            }
            guard let token = try await tokens(of: user.name).first(where: { $0.serial == serial }) else {
                throw SecondFactorError.server(.malformed("the new token is missing"))
            }
            return token
        } catch {
            throw await undone(error, .user) { () async throws(ServerError) in
                try await server.deleteUser(user.name, store: store)
            }
        }
    }

    private func resolver(_ name: String?) async throws(SecondFactorError) -> String {
        if let name { return name }
        let names = try await asking { () async throws(ServerError) in try await server.userStores(realm: realm) }
        guard let only = names.first else { throw .invalid("resolver") }
        guard names.count == 1 else { throw .ambiguous(names) }
        return only
    }

    /// Returns a user's mobile phone number (getUserPhoneNumber); `nil` if the record has none.
    ///
    /// - Throws: `noSuchUser` or `server`.
    public func phone(of user: String) async throws(SecondFactorError) -> PhoneNumber? {
        try check(user)
        let found = try await asking { () async throws(ServerError) in try await server.user(user, realm: realm) }
        guard let found else { throw .noSuchUser(user) }
        return found.mobile.map(PhoneNumber.init)
    }
}

/// A phone number, whose description masks most digits.
public struct PhoneNumber: Hashable, Sendable, CustomStringConvertible {
    /// The number as stored in the user's record.
    public let number: String

    /// Creates a phone number.
    public init(_ number: String) { self.number = number }

    /// The number with only its country code, area code and last two digits, such as `+41 79 *** ** 67`; only the last
    /// two digits of a short number.
    public var description: String {
        let digits = number.filter { ("0"..."9").contains($0) }
        let end = digits.suffix(2)
        guard digits.count >= 9 else { return "*** " + (digits.count > 4 ? end : "**") }
        guard number.hasPrefix("+") else { return "\(digits.prefix(3)) *** ** \(end)" }
        return "+\(digits.prefix(2)) \(digits.dropFirst(2).prefix(2)) *** ** \(end)"
    }
}
