// SPDX-License-Identifier: Apache-2.0

import CCurl
public import YKTransport

/// An HTTP client on libcurl, with its own thread. The library is loaded at the first request: linking it would slow
/// down the start of every program.
///
/// Uses TLS 1.2 or later and verifies the server's certificate; follows no redirects, keeps no state between requests,
/// and uses no proxy for this machine.
public actor CurlClient: HTTPClient {
    /// The maximum size of a response header, in bytes.
    static let headerLimit = 64 << 10

    private let thread: ServiceThread
    private let cancellation: Cancellation?

    /// The thread that waits for servers.
    public nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }

    /// Starts the thread; `cancellation` cancels a pending request.
    ///
    /// - Throws: `failed` when the system cannot create a thread.
    public init(cancellation: Cancellation? = nil) throws(HTTPError) {
        do { thread = try ServiceThread() } catch { throw .failed(0, "\(error)") }
        self.cancellation = cancellation
    }

    /// Sends a request and reads the whole response.
    public func send(_ request: HTTPRequest) throws(HTTPError) -> HTTPResponse {
        guard request.fields.allSatisfy(\.isSound) else { throw .malformed("a header field cannot be sent") }
        var answer = ykit_http_answer()
        defer { ykit_http_free(&answer) }
        let code = perform(request, &answer)
        if code != 0 { throw Self.error(code, answer, request) }
        let response = HTTPResponse(
            status: answer.status, fields: [HTTPField](parsing: Self.bytes(answer.header, answer.header_size)),
            body: Self.bytes(answer.body, answer.body_size), cookies: Self.cookies(answer))
        if let place = response.redirect { throw .redirected(to: place, status: response.status) }
        return response
    }

    private func perform(_ request: HTTPRequest, _ answer: inout ykit_http_answer) -> Int32 {
        // An empty "Expect" keeps libcurl from asking for permission before it sends a long body.
        let fields = request.fields + [HTTPField("Expect", "")]
        let lines = fields.map { "\($0.name): \($0.value)\0" }.joined() + "\0"
        let pins = request.trust.pins.map { "sha256//" + $0.description.dropFirst(7) }.joined(separator: ";")
        let cookies = request.cookies.map { $0.lines.map { $0 + "\0" }.joined() + "\0" }
        let method = request.method.rawValue
        // libcurl omits the Content-Length of a POST without a body.
        let body = request.body ?? (request.method == .post ? [] : nil)
        return request.url.description.withCString { url in
            method.withCString { method in
                lines.withCString { lines in
                    Self.optional(request.trust.authorities) { authorities in
                        Self.optional(pins.isEmpty ? nil : pins) { pins in
                            Self.optional(cookies) { cookies in
                                Self.optional(body) { body in
                                    var wanted = ykit_http_request()
                                    wanted.url = url
                                    wanted.method = method
                                    wanted.headers = lines
                                    wanted.body = body.map(\.pointer)
                                    wanted.body_size = body?.count ?? 0
                                    wanted.cookies = cookies
                                    wanted.authorities = authorities
                                    wanted.pins = pins
                                    wanted.unverified = request.trust.verifiesCertificate ? 0 : 1
                                    return perform(request, &wanted, &answer)
                                }
                            }
                        }
                    }
                }
            }
        }
    }

    private func perform(
        _ request: HTTPRequest, _ wanted: inout ykit_http_request, _ answer: inout ykit_http_answer
    ) -> Int32 {
        let milliseconds = Deadline.after(request.timeout).milliseconds()
        wanted.timeout = Int(max(1, milliseconds))
        wanted.header_limit = Self.headerLimit
        wanted.body_limit = max(0, request.limit)
        wanted.direct = request.url.isLocal ? 1 : 0
        guard let cancellation else { return ykit_http(&wanted, &answer) }
        wanted.context = Unmanaged.passUnretained(cancellation).toOpaque()
        wanted.cancelled = { context in
            guard let context else { return 0 }
            return Unmanaged<Cancellation>.fromOpaque(context).takeUnretainedValue().isCancelled ? 1 : 0
        }
        return withExtendedLifetime(cancellation) { ykit_http(&wanted, &answer) }
    }

    private static func error(_ code: Int32, _ answer: ykit_http_answer, _ request: HTTPRequest) -> HTTPError {
        if code < 0 { return .notInstalled }
        if answer.is_cancelled != 0 { return .cancelled }
        if answer.is_too_large != 0 { return .tooLarge(limit: request.limit) }
        let reason = withUnsafeBytes(of: answer.problem) { bytes in
            String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
        }
        return switch code {
        case ykit_http_unresolved, ykit_http_unconnected: .unreachable(reason)
        case ykit_http_timed_out: .timedOut
        case ykit_http_bad_certificate: .certificate(reason)
        case ykit_http_bad_authorities: .authorities(reason)
        case ykit_http_bad_pin: .pin(seen: answer.certificate.flatMap { HTTPPin(pem: String(cString: $0)) })
        default: .failed(Int(code), reason)
        }
    }

    private static func cookies(_ answer: ykit_http_answer) -> HTTPCookies {
        let bytes = UnsafeRawBufferPointer(
            start: answer.cookies, count: answer.cookies == nil ? 0 : answer.cookies_size)
        return HTTPCookies(lines: bytes.split(separator: 0).map { String(decoding: $0, as: UTF8.self) })
    }

    private static func bytes(_ start: UnsafeMutablePointer<UInt8>?, _ count: Int) -> [UInt8] {
        Array(UnsafeBufferPointer(start: start, count: start == nil ? 0 : count))
    }

    private static func optional<Value>(
        _ text: String?, _ body: (UnsafePointer<CChar>?) -> Value
    ) -> Value {
        guard let text else { return body(nil) }
        return text.withCString(body)
    }

    private static func optional<Value>(
        _ bytes: [UInt8]?, _ body: ((pointer: UnsafePointer<UInt8>, count: Int)?) -> Value
    ) -> Value {
        guard let bytes else { return body(nil) }
        // One extra byte, so that an empty body has an address too.
        return (bytes + [0]).withUnsafeBufferPointer { buffer in
            body(buffer.baseAddress.map { ($0, bytes.count) })
        }
    }
}
