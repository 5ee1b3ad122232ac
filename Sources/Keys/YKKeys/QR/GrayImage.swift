// SPDX-License-Identifier: Apache-2.0

import YKCompression
import YKWire

/// The brightness of a PNG picture (W3C, Portable Network Graphics) on a white or black background, for a reader that
/// ignores transparency and the colors of inverted codes.
struct GrayImage {
    let width: Int
    let height: Int
    /// Whether any pixel is not opaque.
    let isTransparent: Bool
    /// The brightness and the opacity of each pixel.
    private let pixels: [(gray: UInt8, alpha: UInt8)]

    /// The limit of the number of pixels; a photograph with more is not worth the time.
    private static let limit = 1 << 24

    /// Reads a picture without interlacing whose samples have 8 bits or whose pixels share bytes; `nil` for any other.
    init?(png bytes: [UInt8]) {
        guard let chunks = Self.chunks(bytes), let header = chunks.first, header.name == "IHDR",
            let layout = Layout(header.data)
        else { return nil }
        let palette = chunks.first { $0.name == "PLTE" }?.data ?? []
        let clear = chunks.first { $0.name == "tRNS" }?.data ?? []
        let packed = chunks.filter { $0.name == "IDAT" }.flatMap(\.data)
        guard layout.size <= Self.limit * 4,
            var data = Compression.inflate(packed, limit: layout.size),
            data.count == layout.size, layout.removeFilters(&data)
        else { return nil }
        (width, height) = (layout.width, layout.height)
        var pixels: [(gray: UInt8, alpha: UInt8)] = []
        pixels.reserveCapacity(width * height)
        for row in 0..<height {
            let start = row * (layout.stride + 1) + 1
            for column in 0..<width {
                guard let pixel = layout.pixel(data, start, column, palette, clear) else { return nil }
                pixels.append(pixel)
            }
        }
        self.pixels = pixels
        isTransparent = pixels.contains { $0.alpha != 255 }
    }

    /// The picture as a portable graymap (netpbm, "pgm").
    ///
    /// - Parameters:
    ///   - background: the brightness behind transparent pixels.
    ///   - isInverted: whether light and dark are exchanged.
    func graymap(background: UInt8 = 255, isInverted: Bool = false) -> [UInt8] {
        Array("P5\n\(width) \(height)\n255\n".utf8)
            + pixels.map { pixel in
                let (gray, alpha) = (Int(pixel.gray), Int(pixel.alpha))
                let value = UInt8((gray * alpha + Int(background) * (255 - alpha)) / 255)
                return isInverted ? 255 - value : value
            }
    }

    private static func chunks(_ bytes: [UInt8]) -> [(name: String, data: [UInt8])]? {
        var reader = ByteReader(Array(bytes.dropFirst(8)))
        var chunks: [(name: String, data: [UInt8])] = []
        while !reader.isAtEnd, chunks.last?.name != "IEND" {
            guard let size = try? reader.uint32(), let name = try? reader.bytes(4),
                let data = try? reader.bytes(Int(size)), (try? reader.bytes(4)) != nil
            else { return nil }
            chunks.append((String(decoding: name, as: UTF8.self), data))
        }
        return chunks
    }

    /// How the pixels are stored.
    private struct Layout {
        let width: Int
        let height: Int
        let depth: Int
        let kind: Kind
        /// The number of bytes of a row, without that of its filter.
        let stride: Int
        /// The number of bytes of all rows.
        let size: Int

        enum Kind: UInt8 {
            case gray = 0
            case color = 2
            case palette = 3
            case grayAlpha = 4
            case colorAlpha = 6

            var samples: Int {
                switch self {
                case .gray, .palette: 1
                case .grayAlpha: 2
                case .color: 3
                case .colorAlpha: 4
                }
            }
        }

        init?(_ header: [UInt8]) {
            var reader = ByteReader(header)
            guard let width = try? reader.uint32(), let height = try? reader.uint32(), let depth = try? reader.byte(),
                let kind = (try? reader.byte()).flatMap(Kind.init), (try? reader.bytes(3)) == [0, 0, 0],
                (1...16384).contains(width), (1...16384).contains(height), Int(width) * Int(height) <= limit,
                depth == 8 || kind.samples == 1 && [1, 2, 4].contains(depth)
            else { return nil }
            (self.width, self.height, self.depth, self.kind) = (Int(width), Int(height), Int(depth), kind)
            stride = (self.width * kind.samples * self.depth + 7) / 8
            size = self.height * (stride + 1)
        }

        /// Undoes the filters of the rows; false for an unknown one.
        func removeFilters(_ data: inout [UInt8]) -> Bool {
            let step = max(1, kind.samples * depth / 8)
            for row in 0..<height {
                let start = row * (stride + 1) + 1
                let filter = data[start - 1]
                guard filter <= 4 else { return false }
                if filter == 0 { continue }
                for index in 0..<stride {
                    let left = index >= step ? Int(data[start + index - step]) : 0
                    let up = row > 0 ? Int(data[start + index - stride - 1]) : 0
                    let corner = row > 0 && index >= step ? Int(data[start + index - stride - 1 - step]) : 0
                    let guess =
                        switch filter {
                        case 1: left
                        case 2: up
                        case 3: (left + up) / 2
                        default: Self.nearest(left, up, corner)
                        }
                    data[start + index] &+= UInt8(guess)
                }
            }
            return true
        }

        /// The Paeth predictor.
        private static func nearest(_ left: Int, _ up: Int, _ corner: Int) -> Int {
            let (one, two, three) = (abs(up - corner), abs(left - corner), abs(left + up - 2 * corner))
            return one <= two && one <= three ? left : two <= three ? up : corner
        }

        /// The brightness and opacity of a pixel; `nil` if the palette does not have its color.
        func pixel(
            _ data: [UInt8], _ start: Int, _ column: Int, _ palette: [UInt8], _ clear: [UInt8]
        ) -> (gray: UInt8, alpha: UInt8)? {
            let first = start + column * kind.samples * depth / 8
            let shift = depth == 8 ? 0 : 8 - depth - column * depth % 8
            let largest = (1 << depth) - 1
            let value = UInt8((Int(data[first]) >> shift) & largest)
            switch kind {
            case .gray:
                let isClear = clear.count == 2 && clear[1] == value && clear[0] == 0
                return (UInt8(Int(value) * 255 / largest), isClear ? 0 : 255)
            case .palette:
                let index = Int(value)
                guard palette.count >= 3 * index + 3 else { return nil }
                return (
                    Self.gray(palette[3 * index], palette[3 * index + 1], palette[3 * index + 2]),
                    index < clear.count ? clear[index] : 255
                )
            case .grayAlpha: return (value, data[first + 1])
            case .color:
                let color = [data[first], data[first + 1], data[first + 2]]
                let isClear = clear == color.flatMap { [0, $0] }
                return (Self.gray(color[0], color[1], color[2]), isClear ? 0 : 255)
            case .colorAlpha: return (Self.gray(data[first], data[first + 1], data[first + 2]), data[first + 3])
            }
        }

        private static func gray(_ red: UInt8, _ green: UInt8, _ blue: UInt8) -> UInt8 {
            let parts = [299 * Int(red), 587 * Int(green), 114 * Int(blue)]
            return UInt8(parts.reduce(0, +) / 1000)
        }
    }
}
