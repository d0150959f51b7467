//! Images, as they are where they are small, else made smaller.

use std::io::Cursor;

use base64::Engine as _;
use image::{DynamicImage, ImageDecoder, ImageFormat, ImageReader, Limits};

use super::content::ImageContent;

/// The largest file that is decoded.
pub(super) const IMAGE_BYTES: u64 = 20 << 20;
const MOST_PIXELS_A_SIDE: u32 = 1568;
const SHOWN_BYTES: usize = 300 * 1024;
const DECODED_BYTES: u64 = 512 << 20;
const LARGEST_SIDE: u32 = 30_000;

/// Whether a file begins as an image does that can be decoded.
pub(super) fn is_image(head: &[u8]) -> bool {
    // Some formats begin with letters (`BM`, `GIF8`), and so may a text; their headers have bytes that
    // no text has.
    let is_text = !head.contains(&0)
        && std::str::from_utf8(head).map_or_else(
            // A head may end in the middle of a character.
            |error| error.error_len().is_none(),
            |_| true,
        );
    !is_text
        && image::guess_format(head).is_ok_and(|format| {
            matches!(
                format,
                ImageFormat::Png
                    | ImageFormat::Jpeg
                    | ImageFormat::Gif
                    | ImageFormat::WebP
                    | ImageFormat::Bmp
                    | ImageFormat::Tiff
            )
        })
}

/// An image within the caps.
pub(super) fn show(bytes: &[u8]) -> Result<ImageContent, String> {
    let mut reader =
        ImageReader::new(Cursor::new(bytes)).with_guessed_format().map_err(|e| e.to_string())?;
    let mut limits = Limits::default();
    limits.max_alloc = Some(DECODED_BYTES);
    limits.max_image_width = Some(LARGEST_SIDE);
    limits.max_image_height = Some(LARGEST_SIDE);
    reader.limits(limits);
    let format = reader.format().ok_or("its format is not known")?;
    let mut decoder = reader.into_decoder().map_err(|e| e.to_string())?;
    let original = decoder.dimensions();
    let orientation = decoder.orientation().map_err(|e| e.to_string())?;
    // Decoded in any case: a damaged image is said here, not by whoever shows it.
    let mut image = DynamicImage::from_decoder(decoder).map_err(|e| e.to_string())?;
    let is_shown = matches!(
        format,
        ImageFormat::Png | ImageFormat::Jpeg | ImageFormat::Gif | ImageFormat::WebP
    );
    let fits = original.0.max(original.1) <= MOST_PIXELS_A_SIDE && bytes.len() <= SHOWN_BYTES;
    if is_shown && fits {
        return Ok(content(format, bytes, original, original));
    }
    image.apply_orientation(orientation);
    if image.width().max(image.height()) > MOST_PIXELS_A_SIDE {
        image = image.thumbnail(MOST_PIXELS_A_SIDE, MOST_PIXELS_A_SIDE);
    }
    loop {
        if let Some((format, bytes)) = encoded(&image)? {
            return Ok(content(format, &bytes, (image.width(), image.height()), original));
        }
        image = image.thumbnail(image.width() * 3 / 4, image.height() * 3 / 4);
    }
}

/// In the first way that is small enough. Something that is tiny always is.
fn encoded(image: &DynamicImage) -> Result<Option<(ImageFormat, Vec<u8>)>, String> {
    let is_small =
        |bytes: &Vec<u8>| bytes.len() <= SHOWN_BYTES || image.width().min(image.height()) < 16;
    let mut png = Vec::new();
    image.write_to(&mut Cursor::new(&mut png), ImageFormat::Png).map_err(|e| e.to_string())?;
    if is_small(&png) {
        return Ok(Some((ImageFormat::Png, png)));
    }
    let opaque = on_white(image);
    for quality in [85, 70, 50] {
        let mut jpeg = Vec::new();
        let encoder = image::codecs::jpeg::JpegEncoder::new_with_quality(&mut jpeg, quality);
        opaque.write_with_encoder(encoder).map_err(|e| e.to_string())?;
        if is_small(&jpeg) {
            return Ok(Some((ImageFormat::Jpeg, jpeg)));
        }
    }
    Ok(None)
}

/// JPEG has no transparency.
fn on_white(image: &DynamicImage) -> DynamicImage {
    if !image.color().has_alpha() {
        return DynamicImage::ImageRgb8(image.to_rgb8());
    }
    let mut pixels = image.to_rgba8();
    for pixel in pixels.pixels_mut() {
        let alpha = u32::from(pixel[3]);
        for channel in 0..3 {
            let mixed = (u32::from(pixel[channel]) * alpha + 255 * (255 - alpha)) / 255;
            pixel[channel] = u8::try_from(mixed).unwrap_or(u8::MAX);
        }
        pixel[3] = u8::MAX;
    }
    DynamicImage::ImageRgb8(DynamicImage::ImageRgba8(pixels).to_rgb8())
}

fn content(
    format: ImageFormat,
    bytes: &[u8],
    size: (u32, u32),
    original: (u32, u32),
) -> ImageContent {
    ImageContent {
        mime_type: format.to_mime_type().to_owned(),
        data: base64::engine::general_purpose::STANDARD.encode(bytes),
        width: size.0,
        height: size.1,
        original,
        is_resized: size != original,
    }
}
