import { type Browser, chromium } from 'playwright-core';

const executablePath = process.env.CHROMIUM ?? '/usr/bin/chromium';
const viewport = { width: 1200, height: 700 };
/** Sharp at the 900 pixels that a README has, also on a fine screen. */
const deviceScaleFactor = 1.5;
/** What the picture shows: a change with a body, its parameters and its sample. */
const shownOperation = 'tag/pets/POST/pets';

/** Photographs the reference in light and in dark, as WebP. */
export async function photograph(address: string): Promise<[string, Buffer][]> {
  const browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-gpu'] });
  try {
    const pictures: [string, Buffer][] = [];
    for (const colorScheme of ['light', 'dark'] as const) {
      const page = await browser.newPage({
        viewport,
        deviceScaleFactor,
        colorScheme,
        reducedMotion: 'reduce',
      });
      await page.goto(address);
      await page.locator(`aside a[href$="#${shownOperation}"]`).click();
      await page.locator(`section[id$="/${shownOperation}"]`).getByRole('heading').first().waitFor();
      await page.waitForLoadState('networkidle');
      // The page scrolls to the operation, and may add to what stands above it meanwhile.
      await page.waitForTimeout(2_000);
      // In the corner the mouse opens nothing and marks nothing.
      await page.mouse.move(0, 0);
      await page.evaluate('scrollBy(0, 50)');
      await page.waitForTimeout(500);
      pictures.push([colorScheme, await toWebp(browser, await page.screenshot({ animations: 'disabled' }))]);
      await page.close();
    }
    return pictures;
  } finally {
    await browser.close();
  }
}

/**
 * Frames a picture, and makes it WebP by the encoder that browsers have. With 256 colors at most, that needs half the
 * bytes: the commonest stay as they are, and the others, mostly edges of letters, become one of 16 steps a channel.
 */
async function toWebp(browser: Browser, png: Buffer): Promise<Buffer> {
  const page = await browser.newPage();
  // As text, since this runs in the page, whose types these programs do not know.
  const address: string = await page.evaluate(`(async () => {
    const source = 'data:image/png;base64,${png.toString('base64')}';
    const image = await createImageBitmap(await (await fetch(source)).blob());
    const { width, height } = image;
    const canvas = new OffscreenCanvas(width, height);
    const context = canvas.getContext('2d');
    context.drawImage(image, 0, 0);
    const pixels = context.getImageData(0, 0, width, height);
    const colors = new Uint32Array(pixels.data.buffer);
    const counts = new Map();
    for (const color of colors) counts.set(color, (counts.get(color) ?? 0) + 1);
    const common = new Set([...counts].sort(([, a], [, b]) => b - a).slice(0, 32).map(([color]) => color));
    colors.forEach((color, i) => {
      if (common.has(color)) return;
      for (let c = 4 * i; c < 4 * i + 3; c++) pixels.data[c] = Math.round(pixels.data[c] / 17) * 17;
    });
    context.putImageData(pixels, 0, 0);
    Object.assign(context, { strokeStyle: '#8b949e', lineWidth: 2 });
    context.strokeRect(0, 0, width, height);
    const reader = new FileReader();
    reader.readAsDataURL(await canvas.convertToBlob({ type: 'image/webp', quality: 1 }));
    await new Promise((resolve) => reader.addEventListener('load', resolve));
    return reader.result;
  })()`);
  await page.close();
  return Buffer.from(address.slice(address.indexOf(',') + 1), 'base64');
}
