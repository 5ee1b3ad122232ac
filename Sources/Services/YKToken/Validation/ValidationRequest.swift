// SPDX-License-Identifier: Apache-2.0

public import YKCrypto
public import YKWire

/// A request to verify a password (Validation Protocol 2.0, "Request").
public struct ValidationRequest: Hashable, Sendable {
    /// The client's identifier on the server.
    public var client: UInt32
    /// The password as it was typed.
    public var otp: YubicoOTP
    /// 16 to 40 letters and digits that the reply must repeat.
    public var nonce: String
    /// Whether to request the counters.
    public var wantsCounters: Bool
    /// The percentage of the other servers that must confirm; `nil` for the server's default.
    public var syncLevel: Int?
    /// How long the server may wait for the others, in whole seconds; `nil` for the server's default.
    public var timeout: Duration?

    /// Creates a request.
    public init(
        client: UInt32, otp: YubicoOTP, nonce: String, wantsCounters: Bool = true, syncLevel: Int? = nil,
        timeout: Duration? = nil
    ) {
        self.client = client
        self.otp = otp
        self.nonce = nonce
        self.wantsCounters = wantsCounters
        self.syncLevel = syncLevel
        self.timeout = timeout
    }

    private var parameters: [(name: String, value: String)] {
        var list = [("id", "\(client)"), ("nonce", nonce), ("otp", "\(otp)")]
        if let syncLevel { list.append(("sl", "\(syncLevel)")) }
        if let timeout { list.append(("timeout", "\(timeout.components.seconds)")) }
        if wantsCounters { list.append(("timestamp", "1")) }
        return list
    }

    /// The URL with the request, signed with the client's key if there is one.
    public func address(at server: String, key: SharedSecret?) -> String {
        var query = ValidationSignature.line(parameters)
        if let key { query += "&h=" + ValidationSignature.make(parameters, key).queryEscaped }
        return server + (server.contains(bytesOf: "?") ? "&" : "?") + query
    }
}

/// HMAC-SHA-1 over the parameters in the order of their names (Validation Protocol 2.0, "Generating signatures").
enum ValidationSignature {
    static func line(_ parameters: [(name: String, value: String)]) -> String {
        parameters.sorted { $0.name < $1.name }.map { "\($0.name)=\($0.value)" }.joined(separator: "&")
    }

    /// The signature in base64.
    static func make(_ parameters: [(name: String, value: String)], _ key: SharedSecret) -> String {
        Base64.encode(HashAlgorithm.sha1.hmac(key: key.value, Array(line(parameters).utf8)))
    }
}

extension String {
    /// The base64 string with characters that are reserved in queries escaped as `%XX`.
    fileprivate var queryEscaped: String {
        replacing("+", with: "%2B").replacing("/", with: "%2F").replacing("=", with: "%3D")
    }
}
