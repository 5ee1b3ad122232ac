// SPDX-License-Identifier: Apache-2.0

package import TerminalIO
package import YKOATH
import YKWire

extension OATHAccount: Report {
    package static let members: [Member<OATHAccount>] = [
        Member("id", "the text that the verbs take") { $0.id.text },
        Member("rawId", "the bytes on the key in base64url") { Base64.encodeURL($0.id.rawName) },
        Member("issuer") { $0.id.issuer },
        Member("name") { $0.id.name },
        Member("type", "totp or hotp") { $0.type.description.lowercased() },
        Member("period", "in seconds") { $0.type == .totp ? $0.id.period.components.seconds : nil },
        Member("algorithm") { $0.algorithm?.description },
        Member("digits") { $0.digits },
        Member("touch") { $0.needsTouch },
        Member("hidden") { $0.id.isHidden },
    ]
}
