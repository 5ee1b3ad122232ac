// SPDX-License-Identifier: Apache-2.0

public import YKPrivacyIDEA
import YKWire

extension SecondFactor {
    /// Creates a user with a factor that sends PINs (registerUserOnAllWeb).
    ///
    /// - Parameters:
    ///   - channel: Where PINs go, taken from the user's record at each use.
    ///   - isDisabled: Whether the factor is disabled at first.
    ///   - resolver: The user store; `nil` for the realm's only one.
    /// - Returns: The factor's serial number. With the policy `verify_enrollment` it waits for its PIN.
    /// - Throws: `userExists`, `invalid` or `server`. A user whose factor cannot be made is deleted again.
    public func addUser(
        _ user: NewPrivacyIDEAUser, _ channel: PINChannel, isDisabled: Bool = false, resolver: String? = nil
    ) async throws(SecondFactorError) -> PrivacyIDEAToken {
        try Self.check(user.name)
        guard (channel == .sms ? user.mobile : user.email)?.isEmpty == false else {
            throw .invalid(channel == .sms ? "number" : "address")
        }
        // The server answers 500 for a name that exists.
        let known = try await asking { () async throws(PrivacyIDEAError) in
            try await server.user(user.name, realm: realm)
        }
        guard known == nil else { throw .userExists(user.name) }
        let store = try await self.resolver(resolver)
        try await asking { () async throws(PrivacyIDEAError) in try await server.addUser(user, resolver: store) }
        do throws(SecondFactorError) {
            let answer = try await enrol(user.name, channel, to: nil)
            guard let serial = answer.serial else { throw SecondFactorError.server(.malformed("no serial number")) }
            if isDisabled {
                try await asking { () async throws(PrivacyIDEAError) in
                    _ = try await server.disableTokens(.serial(serial))
                }
            }
            guard let token = try await tokens(of: user.name).first(where: { $0.serial == serial }) else {
                throw SecondFactorError.server(.malformed("the new token is missing"))
            }
            return token
        } catch {
            try? await server.deleteUser(user.name, resolver: store)
            throw error
        }
    }

    private func resolver(_ name: String?) async throws(SecondFactorError) -> String {
        if let name { return name }
        let names = try await asking { () async throws(PrivacyIDEAError) in try await server.resolvers(realm: realm) }
        guard let only = names.first else { throw .invalid("resolver") }
        guard names.count == 1 else { throw .ambiguous(names) }
        return only
    }

    /// The number of a user's mobile phone (getUserPhoneNumber); `nil` when the record has none.
    ///
    /// - Throws: `noSuchUser` or `server`.
    public func phone(of user: String) async throws(SecondFactorError) -> PhoneNumber? {
        try Self.check(user)
        let found = try await asking { () async throws(PrivacyIDEAError) in try await server.user(user, realm: realm) }
        guard let found else { throw .noSuchUser(user) }
        return found.mobile.map(PhoneNumber.init)
    }
}

/// A telephone number, printed with most digits masked.
public struct PhoneNumber: Hashable, Sendable, CustomStringConvertible {
    /// The number as the user's record has it.
    public let number: String

    /// Wraps a number.
    public init(_ number: String) { self.number = number }

    /// The number with its country code, area code and last two digits only, such as `+41 79 *** ** 67`; a short one
    /// shows nothing but its last two digits.
    public var description: String {
        let digits = number.filter { ("0"..."9").contains($0) }
        let end = digits.suffix(2)
        guard digits.count >= 9 else { return "*** " + (digits.count > 4 ? end : "**") }
        guard number.hasPrefix("+") else { return "\(digits.prefix(3)) *** ** \(end)" }
        return "+\(digits.prefix(2)) \(digits.dropFirst(2).prefix(2)) *** ** \(end)"
    }
}
