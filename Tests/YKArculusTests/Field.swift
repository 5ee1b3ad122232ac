// SPDX-License-Identifier: Apache-2.0

import Synchronization
import YKArculus
import YKCrypto
import YKFIDO
import YKHTTP
import YKTestSupport
import YKTransport
import YKVirtualKey
import YKWire

/// A virtual Arculus card, held to a reader as often as it is asked for, and what goes wrong each time.
final class Field {
    let key: VirtualKey
    /// What goes wrong on each connection; none on those after the last.
    var faults: [String]
    /// The keys that are held to the reader on each connection, instead of the one.
    var others: [Int: VirtualKey] = [:]
    private(set) var connections = 0
    private(set) var prompts: [ArculusPrompt] = []
    private(set) var offers = 0
    var accepts = true

    init(_ model: DeviceModel = .arculus, pin: String? = "123456", faults: String...) async throws {
        key = try VirtualKey.new(model)
        self.faults = []
        if let pin { try await service().setPIN(secret(pin)) }
        self.faults = faults
        connections = 0
    }

    /// A connection without faults.
    func service() async throws -> FIDOService {
        try await FIDOService.open(card: CardChannel(link: key.link(), environment: .instant))
    }

    /// How many PIN tries are left.
    func retries() async throws -> Int { try await service().pinRetries().count }

    var card: ArculusCard {
        var card = ArculusCard { () async throws(ArculusError) -> sending any FIDOLink in try self.connect() }
        card.prompt = { self.prompts.append($0) }
        card.wantsRetry = {
            self.offers += 1
            return self.accepts
        }
        return card
    }

    private func connect() throws(ArculusError) -> sending any FIDOLink {
        let rules = connections < faults.count ? faults[connections] : ""
        let key = others[connections] ?? key
        connections += 1
        let plan = (try? FaultPlan(parsing: rules)) ?? FaultPlan()
        let channel = CardChannel(link: FaultyLink(key.link(), plan: plan), environment: .instant)
        do { return try CardFIDOLink(channel) } catch { throw .card(.key(.ctap(.link(error))), during: .opening) }
    }
}

/// The PIN that a user gives, and how often.
final class PIN: Sendable {
    private let text: String?
    private let asked = Mutex<[Int]>([])

    init(_ text: String? = "123456") { self.text = text }

    /// The tries that were left at each question.
    var questions: [Int] { asked.withLock { $0 } }

    var arculus: ArculusPIN {
        ArculusPIN(asking: { [self] request in
            await Task.yield()
            asked.withLock { $0.append(request.retries?.count ?? -1) }
            return text.map(secret)
        })
    }
}

/// A server in software: it answers what it is told to, and remembers what it was asked.
final class ScriptedServer: HTTPClient {
    typealias Answer = Result<HTTPResponse, HTTPError>

    private let state: Mutex<(answers: [Answer], asked: [HTTPRequest])>

    init(answers: [Answer]) { state = Mutex((answers, [])) }

    /// What the first answer sets.
    static let cookies = HTTPCookies(lines: ["#HttpOnly_a.example\tFALSE\t/\tFALSE\t0\tsession\t0"])

    /// Answers with JSON texts; the first sets a cookie.
    convenience init(_ texts: String...) {
        self.init(
            answers: texts.enumerated().map { index, text in
                let cookies = index == 0 ? Self.cookies : HTTPCookies()
                return .success(HTTPResponse(status: 200, body: Array(text.utf8), cookies: cookies))
            })
    }

    /// Answers once, with this status.
    convenience init(status: Int, _ text: String, type: String = "application/json") {
        let fields = [HTTPField("Content-Type", type)]
        self.init(answers: [.success(HTTPResponse(status: status, fields: fields, body: Array(text.utf8)))])
    }

    /// Fails in this way.
    convenience init(failing error: HTTPError) { self.init(answers: [.failure(error)]) }

    var asked: [HTTPRequest] { state.withLock { $0.asked } }
    /// The bodies, read.
    var bodies: [JSONValue] { asked.map { (try? JSONValue(parsing: $0.body ?? [])) ?? .null } }

    func send(_ request: HTTPRequest) async throws(HTTPError) -> HTTPResponse {
        let answer = state.withLock { state in
            state.asked.append(request)
            return state.answers.isEmpty ? nil : state.answers.removeFirst()
        }
        guard let answer else { throw .unreachable("nobody answers") }
        return try answer.get()
    }
}

enum Texts {
    static let challenge = "AAECAwQFBgcICQoLDA0ODw"
    static let creation = """
        {"status":"ok","errorMessage":"","rp":{"id":"localhost","name":"Test"},
        "user":{"id":"YWxpY2U","name":"alice","displayName":"Alice"},"challenge":"\(challenge)",
        "pubKeyCredParams":[{"type":"public-key","alg":-7}],"timeout":60000,"excludeCredentials":[],
        "authenticatorSelection":{"userVerification":"preferred"},"attestation":"direct","extensions":{}}
        """
    static func request(_ ids: [[UInt8]], rpID: String = "localhost") -> String {
        let list = ids.map { "{\"type\":\"public-key\",\"id\":\"\(Base64.encodeURL($0))\"}" }.joined(separator: ",")
        return """
            {"status":"ok","errorMessage":"","challenge":"\(challenge)","rpId":"\(rpID)","allowCredentials":[\(list)],
            "userVerification":"preferred"}
            """
    }
    static let ok = "{\"status\":\"ok\",\"errorMessage\":\"\"}"
}

func origin() throws -> Origin { try Origin("http://localhost:5810") }
let challenge = [UInt8](0..<16)
