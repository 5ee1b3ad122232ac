// SPDX-License-Identifier: Apache-2.0

import YKHTTP
import YKToken
import YKTransport

/// Queries validation servers over HTTP.
struct HTTPValidation: ValidationTransport {
    let client: any HTTPClient

    func get(
        _ address: String, limit: Int, timeout: Duration
    ) async throws(ValidationTransportError) -> (status: Int, body: [UInt8]) {
        // HTTPURL's error repeats the address, which contains the password.
        guard let url = try? HTTPURL(address) else {
            throw ValidationTransportError(
                "its address is not that of a server; https://host/path is expected, or http:// on this machine")
        }
        var request = HTTPRequest(get: url)
        request.limit = limit
        request.timeout = timeout
        request.secrets = HTTPSecrets(request: ["otp"], answer: ["otp"])
        do {
            let response = try await client.send(request)
            return (response.status, response.body)
        } catch {
            throw ValidationTransportError(error.reason)
        }
    }
}

extension HTTPError {
    /// The error without the address.
    fileprivate var reason: String {
        if case .redirected(_, let status) = self {
            "it sends elsewhere (\(status)), which is not followed"
        } else {
            "\(self)"
        }
    }
}
