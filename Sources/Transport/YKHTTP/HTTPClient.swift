// SPDX-License-Identifier: Apache-2.0

/// What fetches: a request in, the server's answer out. Services take one, so that they run without a network.
public protocol HTTPClient: Sendable {
    /// Sends a request and reads the whole answer, whatever its status; a redirect is never followed.
    ///
    /// Throws `redirected`, `tooLarge`, `timedOut`, `certificate` and others.
    func send(_ request: HTTPRequest) async throws(HTTPError) -> HTTPResponse
}
