import { type Browser, chromium, type Locator, type Page } from 'playwright-core';

const executablePath = process.env.CHROMIUM ?? '/usr/bin/chromium';

const margin = 12;

/** How much of a page is seen, and how sharp: a README has 900 pixels, and more on a fine screen. */
interface Look {
  width: number;
  height: number;
  scale: number;
  /** The part of the page to show. Default: what the window shows. */
  part?: string;
}

/** Photographs a page in light and in dark, as WebP, once it shows what it should. */
export async function photograph(
  address: string,
  { width, height, scale, part }: Look,
  prepare: (page: Page) => Promise<void>,
): Promise<[scheme: string, picture: Buffer][]> {
  const browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-gpu'] });
  try {
    const pictures: [string, Buffer][] = [];
    for (const colorScheme of ['light', 'dark'] as const) {
      const page = await browser.newPage({
        viewport: { width, height },
        deviceScaleFactor: scale,
        colorScheme,
        reducedMotion: 'reduce',
      });
      await page.goto(address);
      await prepare(page);
      const clip = part === undefined ? undefined : await around(page, part);
      const png = await page.screenshot({ animations: 'disabled', ...(clip && { clip }) });
      pictures.push([colorScheme, await toWebp(browser, png)]);
      await page.close();
    }
    return pictures;
  } finally {
    await browser.close();
  }
}

/** The place of a part of a page, with a margin. */
async function around(page: Page, part: string) {
  const { x, y, width, height } = (await page.locator(part).boundingBox()) as NonNullable<
    Awaited<ReturnType<Locator['boundingBox']>>
  >;
  return { x: x - margin, y: y - margin, width: width + 2 * margin, height: height + 2 * margin };
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
