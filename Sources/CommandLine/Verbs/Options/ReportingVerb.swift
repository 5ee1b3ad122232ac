// SPDX-License-Identifier: Apache-2.0

package import TerminalIO

/// A verb whose answer is declared as a ``Report``.
package protocol ReportingVerb: Verb {
    associatedtype Reported: Report
    /// Does the work.
    func run(in world: World) async throws -> Outcome<Reported>
}

extension ReportingVerb {
    package static var members: [MemberForm] { Reported.members.map(\.form) }

    package func answer(in world: World) async throws -> Answer { try await run(in: world).answer }
}
