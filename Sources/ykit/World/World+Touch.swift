// SPDX-License-Identifier: Apache-2.0

import YKFIDO
import YKTransport

extension World {
    /// Where the key is that is touched; with one key that is attached, too, the touch is waited for.
    func touchedKey() async throws -> String {
        let service = try await openFIDO()
        try await service.select()
        return selection.path ?? "virtual"
    }
}
