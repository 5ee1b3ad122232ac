// SPDX-License-Identifier: Apache-2.0

public import YKTransport

/// An HTTP client. Services take one as a parameter, so that they can run without a network.
public protocol HTTPClient: Sendable {
    /// Sends a request and reads the whole response, whatever its status; redirects are never followed.
    ///
    /// - Throws: `redirected`, `tooLarge`, `timedOut`, `certificate` and others.
    func send(_ request: HTTPRequest) async throws(HTTPError) -> HTTPResponse
}
