// SPDX-License-Identifier: Apache-2.0

package import TerminalIO
package import YKManagement

extension KnownFlaw: Report {
    package static let members: [Member<KnownFlaw>] = [
        Member("name") { $0.name },
        Member("reference") { $0.reference },
        Member("summary") { $0.summary },
        Member("advice") { $0.advice },
    ]
}
