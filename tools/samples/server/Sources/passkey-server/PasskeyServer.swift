// SPDX-License-Identifier: Apache-2.0

import Hummingbird
import YKFIDO
import YKRelyingParty
import YKTransport
import YKWire

/// A server for passkeys, with the paths of FIDO's conformance tests.
@main
struct PasskeyServer {
    static func main() async throws {
        let arguments = CommandLine.arguments
        guard arguments.count == 5, let port = Int(arguments[1]) else {
            print("usage: passkey-server PORT RP_ID ORIGIN DATABASE")
            return
        }
        var party = try WebAuthnRelyingParty(
            id: arguments[2], name: "Sample", origins: [arguments[3]], ceremonies: MemoryCeremonies())
        party.attestation = .indirect
        let routes = Routes(party: party, accounts: try Accounts(path: arguments[4]))
        let router = Router()
        for base in ["", "/fidoapi"] {
            router.post("\(base)/attestation/options") { request, _ in try await routes.run(request, routes.register) }
            router.post("\(base)/attestation/result") { request, _ in try await routes.run(request, routes.registered) }
            router.post("\(base)/assertion/options") { request, _ in try await routes.run(request, routes.signIn) }
            router.post("\(base)/assertion/result") { request, _ in try await routes.run(request, routes.signedIn) }
        }
        let related = RelatedOrigins(party.origins.sorted()).json
        router.get("\(RelatedOrigins.path)") { _, _ in Routes.response(related) }
        let application = Application(
            router: router, configuration: .init(address: .hostname("127.0.0.1", port: port)))
        try await application.runService()
    }
}

/// What the paths do. A ceremony's token and the session are cookies.
struct Routes: Sendable {
    let party: WebAuthnRelyingParty
    let accounts: Accounts

    /// A request as the paths need it.
    struct Incoming: Sendable {
        let body: [UInt8]
        let json: JSONValue
        let session: String
        let token: String
    }

    /// What goes back: the members beside the status, and the token of a ceremony that has begun.
    struct Outgoing: Sendable {
        var members: JSONValue = [:]
        var token: String?
    }

    /// A request that asks for what is not there.
    struct Refusal: Error {
        let reason: String
    }

    func run(
        _ request: Request, _ path: @Sendable (Incoming) async throws -> Outgoing
    ) async throws -> Response {
        let session = request.cookies["session"]?.value ?? Base64.encodeURL(SystemRandom().draw(24, secret: true))
        let buffer = try await request.body.collect(upTo: 256 << 10)
        let body = Array(buffer.readableBytesView)
        do {
            let incoming = Incoming(
                body: body, json: try JSONValue(parsing: body), session: session,
                token: request.cookies["ceremony"]?.value ?? "")
            let outgoing = try await path(incoming)
            var answer: JSONValue = ["status": "ok", "errorMessage": ""]
            if case .object(var object) = answer {
                for member in outgoing.members.object?.members ?? [] { object[member.key] = member.value }
                answer = .object(object)
            }
            return Self.response(answer, session: session, token: outgoing.token ?? "")
        } catch {
            let reason = (error as? Refusal)?.reason ?? "\(error)"
            return Self.response(
                ["status": "failed", "errorMessage": .string(reason)], .badRequest, session: session, token: "")
        }
    }

    func register(_ request: Incoming) async throws -> Outgoing {
        guard let name = request.json["username"]?.string, !name.isEmpty,
            let displayName = request.json["displayName"]?.string
        else { throw Refusal(reason: "username or displayName is missing") }
        let user = try await accounts.account(name, displayName: displayName)
        var wanted = RegistrationRequirements()
        let selection = request.json["authenticatorSelection"]
        wanted.selection.userVerification = Self.verification(selection)
        wanted.selection.residentKey =
            selection?["residentKey"]?.string.flatMap(ResidentKeyRequirement.init(rawValue:))
            ?? (selection?["requireResidentKey"]?.bool == true ? .required : .preferred)
        wanted.extensions.others = request.json["extensions"]?.object ?? wanted.extensions.others
        let begun = try await party.beginRegistration(
            of: user, session: request.session, excluding: try await accounts.credentials(of: user.id), wanted)
        var options = begun.options
        options.attestation =
            request.json["attestation"]?.string.flatMap(AttestationConveyance.init(rawValue:)) ?? .none
        return Outgoing(members: options.json, token: begun.token)
    }

    func registered(_ request: Incoming) async throws -> Outgoing {
        let verified = try await party.finishRegistration(
            request.body, token: request.token, session: request.session
        ) { try await accounts.credential($0) != nil }
        try await accounts.add(verified.record)
        return Outgoing()
    }

    func signIn(_ request: Incoming) async throws -> Outgoing {
        var wanted = AuthenticationRequirements()
        wanted.userVerification = Self.verification(request.json)
        wanted.extensions.others = request.json["extensions"]?.object ?? wanted.extensions.others
        var user: FIDOUser?
        if let name = request.json["username"]?.string, !name.isEmpty {
            guard let found = try await accounts.find(name) else { throw Refusal(reason: "no such user") }
            user = found
        }
        var known: [CredentialRecord] = []
        if let user { known = try await accounts.credentials(of: user.id) }
        let begun = try await party.beginAuthentication(
            of: user?.id, session: request.session, allowing: known, wanted)
        return Outgoing(members: begun.options.json, token: begun.token)
    }

    func signedIn(_ request: Incoming) async throws -> Outgoing {
        let verified = try await party.finishAuthentication(
            request.body, token: request.token, session: request.session
        ) { try await accounts.credential($0) }
        try await accounts.update(verified.record)
        return Outgoing()
    }

    private static func verification(_ json: JSONValue?) -> UserVerification {
        json?["userVerification"]?.string.flatMap(UserVerification.init(rawValue:)) ?? .preferred
    }

    static func response(
        _ json: JSONValue, _ status: HTTPResponse.Status = .ok, session: String? = nil, token: String? = nil
    ) -> Response {
        var response = Response(
            status: status, headers: [.contentType: "application/json"],
            body: ResponseBody(byteBuffer: ByteBuffer(string: json.text)))
        for (name, value) in [("session", session), ("ceremony", token)] {
            guard let value else { continue }
            response.setCookie(Cookie(name: name, value: value, path: "/", httpOnly: true, sameSite: .strict))
        }
        return response
    }
}
