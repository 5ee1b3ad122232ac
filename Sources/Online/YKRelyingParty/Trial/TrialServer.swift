// SPDX-License-Identifier: Apache-2.0

import YKHTTP
public import YKTransport

/// A web site on this machine that tests a browser and its key. It serves one browser: the first one that opens ``url``.
///
/// ```swift
/// let server = try TrialServer(TrialStep.basic) { print($0.step, $0.outcome) }
/// print("open \(server.url)")
/// ```
public final class TrialServer: Sendable {
    /// The address of the page, which can be opened once.
    public let url: String
    /// The origin of the page, and of its credentials.
    public let origin: String
    private let site: TrialSite
    private let listener: HTTPListener

    /// Starts serving on the loopback addresses, at a port chosen by the system.
    ///
    /// - Parameters:
    ///   - steps: The steps of the trial, in this order.
    ///   - report: Called with each result, on the server's thread.
    /// - Throws: `HTTPError` if no port is available, `LinkError` if there are no random bytes.
    public init(
        _ steps: [TrialStep], environment: ServiceEnvironment = ServiceEnvironment(),
        report: @escaping @Sendable (TrialResult) -> Void
    ) throws {
        let site = TrialSite(steps, environment, report: report)
        listener = try HTTPListener(localhost: { site.answer($0) })
        self.site = site
        origin = "http://localhost:\(listener.port)"
        url = try site.open(at: listener.port)
    }

    /// Whether the last step is done, or the user ended the trial.
    public var isOver: Bool { site.isOver }

    /// The results so far, in the order of the steps.
    public var results: [TrialResult] { site.results }

    /// The browser's User-Agent; `nil` until it opens the page.
    public var userAgent: String? { site.userAgent }

    /// The passkey left on the key.
    public var passkey: TrialPasskey? { site.passkey }

    /// Stops serving, and returns once every pending response is written or abandoned.
    public func stop() { listener.stopAndWait() }
}
