// SPDX-License-Identifier: Apache-2.0

public import YKHTTP
import YKWire

/// An account that answers the log-ins of a TiQR service; its secret is in the sealed part of its record.
public struct TiQRAccount: Hashable, Sendable {
    /// What all kinds of accounts have in common.
    public var account: ApprovalAccount
    /// The identifier of the service, which each log-in names.
    public let service: String
    /// The person's identifier at the service.
    public let identity: String
    /// The person's name, in the service's words.
    public let identityName: String
    /// Where log-ins are answered.
    public let url: HTTPURL
    /// How a challenge is answered.
    public let suite: OCRASuite
    /// How the server is authenticated.
    public var trust: HTTPTrust

    /// Reads an account of the store; `nil` when it is of another kind or cannot be read.
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

    /// The account for the store.
    public var stored: ApprovalAccount {
        var stored = account
        var object = JSON.Object()
        object["service"] = .string(service)
        object["identity"] = .string(identity)
        object["identityName"] = .string(identityName)
        object["url"] = .string(url.description)
        object["suite"] = .string(suite.description)
        object["trust"] = trust.json
        stored.details = object
        return stored
    }

    /// Checks that a log-in is one of this account's.
    ///
    /// - Throws: `otherAccount` when it names another service or person.
    public func check(_ login: TiQRLogin) throws(ApprovalError) {
        guard login.service == service, login.identity.map({ $0 == identity }) ?? true else {
            throw .otherAccount((login.identity.map { $0 + "@" } ?? "") + login.service)
        }
    }
}

/// What a TiQR service says of an enrolment, before it has the secret.
public struct TiQREnrolment: Hashable, Sendable {
    /// The account.
    public let account: TiQRAccount
    /// Where the secret is sent.
    public let url: HTTPURL

    /// Reads the metadata of a service.
    ///
    /// - Parameters:
    ///   - metadata: What the service says.
    ///   - link: Where it said it: addresses of another server are refused.
    /// - Throws: `malformed`, or `otherServer`.
    init(_ metadata: JSON, _ link: TiQREnrolmentLink, _ trust: HTTPTrust, added: Int64) throws(ApprovalError) {
        let (service, identity) = (metadata["service"], metadata["identity"])
        func text(_ object: JSON?, _ name: String) throws(ApprovalError) -> String {
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
        guard !suite.hasCounter, suite.pinHash == nil, suite.sessionLength == nil, suite.timeStep == nil else {
            throw .malformed("the suite \(suite) asks for more than a challenge")
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
