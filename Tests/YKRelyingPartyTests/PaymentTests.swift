// SPDX-License-Identifier: Apache-2.0

import Testing
import YKFIDO
import YKRelyingParty
import YKTestSupport
import YKTransport
import YKWire

/// Payments at another site (Secure Payment Confirmation), between a bank and a virtual key of firmware 5.8.
struct PaymentTests {
    private static let shop = "https://shop.example.org"
    private static let payment = Payment(
        topOrigin: shop, payeeName: "Shop", amount: "25.00", currency: "EUR", instrumentName: "card",
        instrumentIcon: "https://example.com/card.png")

    private static var asked: AuthenticationRequirements {
        var asked = AuthenticationRequirements()
        asked.extensions.payment = payment
        return asked
    }

    private static func wanted(_ allowsPayments: Bool) -> RegistrationRequirements {
        var wanted = RegistrationRequirements()
        wanted.extensions.allowsPayments = allowsPayments
        wanted.selection = AuthenticatorSelection(residentKey: .required)
        return wanted
    }

    /// The key at the bank's site, and in the page of the shop.
    private func key() async throws -> (bank: VirtualClient, shop: VirtualClient) {
        let bank = try await VirtualClient.open(pin: "12345", version: FirmwareVersion(5, 8, 0))
        var client = bank.client
        client.origin = try Origin(Self.shop)
        return (bank, VirtualClient(client: client))
    }

    @Test func confirmsAPayment() async throws {
        let key = try await key()
        let server = try Server()
        let made = try await server.register(key.bank.create, asking: Self.wanted(true))
        let paid = try await server.authenticate(key.shop.get, allowing: [made.record], asking: Self.asked)
        #expect(paid.allowsThirdPartyPayment == true && paid.record.signCount > made.record.signCount)
        let signedIn = try await server.authenticate(key.bank.get, allowing: [paid.record])
        expect(signedIn.allowsThirdPartyPayment, is: nil)
    }

    @Test func refusesACredentialThatIsNotForPayments() async throws {
        let key = try await key()
        let server = try Server()
        let made = try await server.register(key.bank.create, asking: Self.wanted(false))
        await refused(.extension("payment")) {
            try await server.authenticate(key.shop.get, allowing: [made.record], asking: Self.asked)
        }
        let paid = try await server.authenticate(key.bank.get, allowing: [made.record], asking: Self.asked)
        expect(paid.allowsThirdPartyPayment, is: false)
    }

    private static let stated: JSONValue.Object = JSONValue.Object([
        ("rpId", "example.com"), ("topOrigin", .string(shop)), ("payeeName", "Shop"),
        ("total", ["value": "25.00", "currency": "EUR"]),
        ("instrument", ["icon": "https://example.com/card.png", "displayName": "card"]),
    ])
    private static let others: [(String, JSONValue?)] = [
        ("rpId", "example.org"), ("topOrigin", "https://evil.example.net"), ("payeeName", "Thief"), ("payeeName", nil),
        ("payeeOrigin", "https://evil.example.net"), ("total", ["value": "2500", "currency": "EUR"]),
        ("total", ["value": "25.00", "currency": "USD"]), ("total", nil),
        ("instrument", ["icon": "https://example.com/card.png", "displayName": "other card"]),
    ]

    @Test(arguments: others) func refusesAnotherPayment(_ member: String, _ value: JSONValue?) async throws {
        let server = try Server()
        var authenticator = try Authenticator()
        try await server.register(authenticator.create)
        (authenticator.counter, authenticator.type, authenticator.origin) = (2, .payment, Self.shop)
        var stated = Self.stated
        authenticator.payment = .object(stated)
        try await server.authenticate(authenticator.get, asking: Self.asked)
        stated[member] = value
        authenticator.counter = 3
        authenticator.payment = .object(stated)
        await refused(.extension("payment")) { try await server.authenticate(authenticator.get, asking: Self.asked) }
    }

    @Test func refusesOtherCeremonies() async throws {
        let server = try Server()
        var authenticator = try Authenticator()
        try await server.register(authenticator.create)
        authenticator.counter = 2
        authenticator.payment = .object(Self.stated)
        await refused(.type(.get)) { try await server.authenticate(authenticator.get, asking: Self.asked) }
        authenticator.type = .payment
        await refused(.type(.payment)) { try await server.authenticate(authenticator.get) }
        authenticator.origin = "https://evil.example.net"
        await refused(.origin("https://evil.example.net")) {
            try await server.authenticate(authenticator.get, asking: Self.asked)
        }
        (authenticator.origin, authenticator.crossOrigin) = (Self.shop, true)
        authenticator.topOrigin = "https://evil.example.net"
        await refused(.topOrigin("https://evil.example.net")) {
            try await server.authenticate(authenticator.get, asking: Self.asked)
        }
        authenticator.topOrigin = Self.shop
        try await server.authenticate(authenticator.get, asking: Self.asked)
    }
}
