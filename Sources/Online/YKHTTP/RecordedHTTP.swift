// SPDX-License-Identifier: Apache-2.0

public import YKCapture
import YKTransport

extension Recorder {
    /// Returns a client whose requests are recorded; the file is created with the first request, unless a key is
    /// already being recorded.
    public func recording(_ client: any HTTPClient) -> any HTTPClient {
        RecordingHTTPClient(client: client, recorder: self)
    }
}

extension CaptureReplay {
    /// The recorded servers, as a client.
    public func httpClient() -> any HTTPClient { ReplayedHTTPClient(replay: self) }
}

/// A client that records each request and its outcome in a capture.
private struct RecordingHTTPClient: HTTPClient {
    let client: any HTTPClient
    let recorder: Recorder

    func send(_ request: HTTPRequest) async throws(HTTPError) -> HTTPResponse {
        do { try recorder.beginHTTP() } catch { throw .link(error) }
        let response: HTTPResponse
        do { response = try await client.send(request) } catch {
            if error != .cancelled { try note(request, .failure(error)) }
            throw error
        }
        try note(request, .answer(status: response.status, fields: response.fields, body: response.body))
        return response
    }

    private func note(_ request: HTTPRequest, _ outcome: Capture.HTTPExchange.Outcome) throws(HTTPError) {
        do { try recorder.append(.init(.http(Capture.HTTPExchange(request, outcome)))) } catch { throw .link(error) }
    }
}

/// A client that answers from a recording.
private struct ReplayedHTTPClient: HTTPClient {
    let replay: CaptureReplay

    func send(_ request: HTTPRequest) async throws(HTTPError) -> HTTPResponse {
        let outcome: Capture.HTTPExchange.Outcome
        do { outcome = try replay.outcome(of: Capture.HTTPExchange(request, .failure(.cancelled))) } catch {
            throw .link(error)
        }
        switch outcome {
        case .answer(let status, let fields, let body):
            return HTTPResponse(status: status, fields: fields, body: body)
        case .failure(let error): throw error
        }
    }
}

extension Capture.HTTPExchange {
    fileprivate init(_ request: HTTPRequest, _ outcome: Outcome) {
        self.init(
            method: request.method.rawValue, url: request.url.description, fields: request.fields, body: request.body,
            outcome: outcome, secrets: request.secrets)
    }
}
