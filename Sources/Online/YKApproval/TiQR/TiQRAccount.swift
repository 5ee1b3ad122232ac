// SPDX-License-Identifier: Apache-2.0

public import YKHTTP
import YKWire

/// An account that answers the logins of a TiQR service; its secret is in the sealed part of its record.
public struct TiQRAccount: Hashable, Sendable {
    /// The properties common to all kinds of accounts.
    public var account: ApprovalAccount
    /// The identifier of the service, contained in each login.
    public let service: String
    /// The user's identifier at the service.
    public let identity: String
    /// The user's name, as given by the service.
    public let identityName: String
    /// The URL to which logins are answered.
    public let url: HTTPURL
    /// The OCRA suite of the responses.
    public let suite: OCRASuite
    /// How the server is authenticated.
    public var trust: HTTPTrust

    /// Reads an account from the store; `nil` if it is of a different type or malformed.
    public init?(_ account: ApprovalAccount) {
        func text(_ name: String) -> String? { account.details[name]?.string }
        guard account.kind == .tiqr, let service = text("service"), let identity = text("identity"),
            let identityName = text("identityName"), let url = text("url").flatMap({ try? HTTPURL($0) }),
            let suite = text("suite").flatMap({ try? OCRASuite($0) }),
            let trust = account.details["trust"].flatMap({ HTTPTrust(json: $0) })
        else { return nil }
        self.account = account
        (self.service, self.identity, self.identityName) = (service, identity, identityName)
        (self.url, self.suite, self.trust) = (url, suite, trust)
    }

    /// The account in the form for the store.
    public var stored: ApprovalAccount {
        var object = JSONValue.Object()
        object["service"] = .string(service)
        object["identity"] = .string(identity)
        object["identityName"] = .string(identityName)
        object["url"] = .string(url.description)
        object["suite"] = .string(suite.description)
        object["trust"] = trust.json
        return account.with(object)
    }

    /// Checks that a login belongs to this account.
    ///
    /// - Throws: `otherAccount` if it names another service or user.
    public func check(_ login: TiQRLogin) throws(ApprovalError) {
        guard login.service == service, login.identity.map({ $0 == identity }) ?? true else {
            throw .otherAccount((login.identity.map { $0 + "@" } ?? "") + login.service)
        }
    }
}

/// An enrollment as described by a TiQR service, before the service has the secret.
public struct TiQREnrolment: Hashable, Sendable {
    /// The account.
    public let account: TiQRAccount
    /// The URL to which the secret is sent.
    public let url: HTTPURL

    /// Reads a service's metadata.
    ///
    /// - Parameters:
    ///   - metadata: The metadata.
    ///   - link: The link from which it was fetched; addresses of another server are refused.
    /// - Throws: `malformed`, or `otherServer`.
    init(_ metadata: JSONValue, _ link: TiQREnrolmentLink, _ trust: HTTPTrust, added: Int64) throws(ApprovalError) {
        let (service, identity) = (metadata["service"], metadata["identity"])
        func text(_ object: JSONValue?, _ name: String) throws(ApprovalError) -> String {
            guard let value = object?[name]?.string, (1...1024).contains(value.utf8.count) else {
                throw .malformed("the service's metadata has no \(name)")
            }
            return value
        }
        func address(_ name: String) throws(ApprovalError) -> HTTPURL {
            let value = try text(service, name)
            let url: HTTPURL
            do { url = try HTTPURL(value) } catch { throw .malformed("the service's \(name): \(error)") }
            guard url.origin == link.metadata.origin else {
                throw .otherServer(url.origin, enrolled: link.metadata.origin)
            }
            return url
        }
        let suite = try OCRASuite(try text(service, "ocraSuite"))
        guard !suite.hasCounter, suite.pinHash == nil, suite.timeStep == nil else {
            throw .malformed("the suite \(suite) requires more than a challenge and a session")
        }
        let identifier = try text(identity, "identifier")
        let serial = link.serial ?? Hex.encode(Array(identifier.utf8).prefix(16))
        var stored = ApprovalAccount(
            .tiqr, name: link.serial ?? identifier, serial: serial,
            issuer: service?["displayName"]?.string ?? "", server: PushAccount.server(of: link.metadata), added: added)
        stored.details["service"] = .string(try text(service, "identifier"))
        stored.details["identity"] = .string(identifier)
        stored.details["identityName"] = .string(identity?["displayName"]?.string ?? identifier)
        stored.details["url"] = .string(try address("authenticationUrl").description)
        stored.details["suite"] = .string(suite.description)
        stored.details["trust"] = trust.json
        guard let account = TiQRAccount(stored) else { throw .malformed("the service's metadata") }
        self.account = account
        url = try address("enrollmentUrl")
    }
}
